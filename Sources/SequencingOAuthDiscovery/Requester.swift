import SQBasics
import SequencingOAuth

/// The user whose request waits, as the account knew the user when the request was sent.
///
/// A user who signs in later must not complete the request.
struct Requester: Sendable {
  /// Whom an account's tokens are for, as far as its sign-ins say.
  enum Party: Sendable, Hashable {
    /// The user who made the sign-ins of a series.
    case user(SignInSeries)
    /// A client that acts in its own name, so that all its tokens are of one owner.
    case client
  }

  private let module: AuthorizationModule
  /// The owner of the request in the account's session.
  let owner: RequestOwner
  /// The user whom the account's ID token names; `nil` if there is no ID token.
  let user: SignInUser?
  /// A digest of the user whom the assertion of the account's grant named; `nil` if it named none.
  let assertedUser: String?
  /// The issuer of the account's tokens; `nil` if nobody was signed in.
  let issuer: String?
  /// Whom the tokens are for; `nil` if nobody was signed in.
  let party: Party?

  /// Describes the user who is signed in to an account now.
  init(of module: AuthorizationModule) {
    let (owner, record) = module.session.ownerAndRecord
    self.module = module
    self.owner = owner
    user = record?.token.idToken.map(SignInUser.init)
    assertedUser = record?.grant?.user
    issuer = record?.issuer
    // Such a client gets its tokens again by itself, and no sign-in can bring another user. An
    // assertion, of the app or of a source, may name a user.
    let isOfClient = record?.grant?.isClientCredentials ?? false
    party = owner.series.map { isOfClient ? .client : .user($0) }
  }

  /// Whether the app has ended the account's session since then.
  var isSignedOut: Bool { module.session.appEndCount != owner.appEndCount }

  /// Returns whether the account's user `now` may complete this owner's request.
  ///
  /// If ID tokens or the assertions of an identity provider name both users, they must be the same.
  /// Otherwise, both sign-ins must belong to the same series, and a user whom an ID token names must
  /// still be at the same issuer. No user may complete the request after the app has ended the
  /// session.
  func admits(_ now: Requester) -> Bool {
    guard !isSignedOut else { return false }
    guard let party, let other = now.party else { return true }
    if let user, let other = now.user { return user == other }
    if let assertedUser, let other = now.assertedUser { return assertedUser == other }
    guard user == nil || issuer == now.issuer else { return false }
    return party == other
  }
}

extension Requester: Equatable {
  static func == (one: Requester, other: Requester) -> Bool {
    one.module === other.module && one.owner.appEndCount == other.owner.appEndCount
      && one.user == other.user && one.party == other.party
  }
}

extension ResourceClient {
  /// Returns the owner of a demand's request as the account knows the owner now.
  ///
  /// - Throws: The error of the request if the account is another user's, or if the app has ended
  ///   the session since the request was sent.
  @discardableResult
  func checkOwner(
    of demand: Demand, _ module: AuthorizationModule
  ) throws(SQOAuthError) -> Requester {
    let now = Requester(of: module)
    guard let waiting = demand.waiting else { return now }
    guard waiting.owner.admits(now) else {
      throw demand.kind == .client && !waiting.owner.isSignedOut
        ? .replacedMeanwhile : waiting.error
    }
    return now.party == nil ? waiting.owner : now
  }
}

extension SQOAuthError {
  /// The error of a request that waited while another process signed a user in as another client.
  fileprivate static let replacedMeanwhile = SQOAuthError(
    .sessionReplaced,
    "another process signed a user in to the account while this request waited; the request was "
      + "not sent again, because it belongs to the previous sign-in")
}
