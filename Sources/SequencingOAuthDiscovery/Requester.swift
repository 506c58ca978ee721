import SQBasics
import SequencingOAuth

/// The sign-ins by which one user has kept an account: the first one, and those that requests of
/// its user led to.
enum SignInSeries: Sendable, Hashable {
  /// The identifier of the first sign-in, `AccountRecord.session`; `nil` if it has none.
  case user(first: String?)
  /// A client that acts in its own name, so that all its tokens are of one owner.
  case client
}

/// The user whose request waits, as the account knew the user when the request was sent.
///
/// A user who signs in later must not complete the request.
struct Requester: Sendable {
  private let module: AuthorizationModule
  /// The number of times the app had ended the account's session.
  private let endCount: Int
  /// The user whom the account's ID token names; `nil` if there is no ID token.
  private let user: SignInUser?
  /// The issuer of the account's tokens; `nil` if nobody was signed in.
  let issuer: String?
  /// The series of the account's sign-in; `nil` if nobody was signed in.
  let series: SignInSeries?

  /// Describes the user who is signed in to an account now.
  init(of module: AuthorizationModule, series: (AccountRecord) -> SignInSeries) {
    self.module = module
    // Read this first: a session that ends meanwhile must count as ended.
    endCount = module.session.appEndCount
    let record = module.session.record
    user = record?.token.idToken.map(SignInUser.init)
    issuer = record?.issuer
    self.series = record.map(series)
  }

  /// Whether the app has ended the account's session since then.
  var isSignedOut: Bool { module.session.appEndCount != endCount }

  /// Returns whether the account's user `now` may complete this owner's request.
  ///
  /// A user whom an ID token names must be named again. Without ID tokens, the sign-in must belong
  /// to the same series. Nobody may complete the request after the app has ended the session.
  func admits(_ now: Requester) -> Bool {
    guard !isSignedOut else { return false }
    guard let series, now.series != nil else { return true }
    return user.map { $0 == now.user } ?? (series == now.series)
  }
}

extension Requester: Equatable {
  static func == (one: Requester, other: Requester) -> Bool {
    one.module === other.module && one.endCount == other.endCount && one.user == other.user
      && one.series == other.series
  }
}

// The owners of requests, and the sign-ins that continue a series.
extension ResourceClient {
  /// Returns the user who is signed in to an account now.
  func currentOwner(_ module: AuthorizationModule) -> Requester {
    Requester(of: module, series: series)
  }

  /// Returns the owner of a demand's request as the account knows the owner now.
  ///
  /// - Throws: The error of the request if the account is another user's, or if the app has ended
  ///   the session since the request was sent.
  @discardableResult
  func checkOwner(
    of demand: Demand, _ module: AuthorizationModule
  ) throws(SQOAuthError) -> Requester {
    let now = currentOwner(module)
    guard let waiting = demand.waiting else { return now }
    guard waiting.owner.admits(now) else {
      throw demand.kind == .client && !waiting.owner.isSignedOut
        ? .replacedMeanwhile : waiting.error
    }
    return now.series == nil ? waiting.owner : now
  }

  /// Returns the series of a record's sign-in.
  private func series(of record: AccountRecord) -> SignInSeries {
    // Such a client gets its tokens again by itself, and no sign-in can bring another user.
    if record.grant?.grantType == AccountRecord.Grant.clientCredentials(scope: nil).grantType {
      return .client
    }
    return latestSeries.withLock { latest in
      latest?.signIn == record.session ? latest?.series : nil
    } ?? .user(first: record.session)
  }

  /// Notes that the sign-in of a new token was for a request, so that it continues the series of
  /// the request's owner.
  func continueSeries(
    of owner: Requester?, with token: SQToken, _ module: AuthorizationModule
  ) {
    guard let series = owner?.series, let record = module.session.record,
      record.token.isSame(as: token), let signIn = record.session
    else { return }
    latestSeries.withLock { $0 = (signIn, series) }
  }
}

extension SQOAuthError {
  /// The error of a request that waited while another process signed a user in as another client.
  fileprivate static let replacedMeanwhile = SQOAuthError(
    .sessionReplaced,
    "another process signed a user in to the account while this request waited; the request was "
      + "not sent again, because it belongs to the previous sign-in")
}
