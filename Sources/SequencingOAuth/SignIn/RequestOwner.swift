import SQBasics
import SQFoundation

/// Who was signed in to a session at one moment, such as the beginning of a request.
///
/// A request belongs to the user who was signed in when it began. A later sign-in may be another
/// user's, and that user's token must not complete the request.
package struct RequestOwner: Sendable, Hashable {
  /// The party that a token acts for.
  enum Party: Sendable, Hashable {
    /// The user whom a validated ID token names.
    case user(SignInUser)
    /// The party of a grant that the client repeats by itself: the client, or the one whom the
    /// assertion names.
    case client(id: String, server: String?, grantType: String, JWTAssertion?)
    /// The user whom the assertion of a grant names, as a digest.
    case asserted(String)
  }

  /// The number of times the session had ended.
  let ends: Int
  /// The number of times the app had ended the session.
  package let appEndCount: Int
  /// The number of times another sign-in had replaced a running session.
  let replacements: Int
  /// Whether a user was signed in.
  let isSignedIn: Bool
  /// The sign-in's identifier in the record, ``AccountRecord/session``.
  let name: String?
  /// The series of sign-ins to which the sign-in belongs; `nil` if nobody was signed in.
  package internal(set) var series: SignInSeries?
  /// The party that the token acts for; `nil` if unknown.
  var party: Party?

  /// The user that the token acts for, if a validated ID token names one.
  var user: SignInUser? {
    if case .user(let user)? = party { user } else { nil }
  }

  /// Whether the token comes from a grant that the client repeats by itself.
  var isOfGrant: Bool {
    switch party {
    case .client?, .asserted?: true
    case .user?, nil: false
    }
  }
}

extension RequestOwner {
  /// Returns whether a request of this owner may carry a token of a later moment.
  ///
  /// It may if no sign-in has begun since then but those that requests of the same user needed, or
  /// if both tokens are known to act for the same party. If the app has ended the session since
  /// then, it may not.
  func permits(_ later: RequestOwner) -> Bool {
    guard later.appEndCount == appEndCount else { return false }
    if let party, let other = later.party { return party == other }
    if lasts(until: later) { return true }
    return series?.first != nil && series == later.series
  }

  /// Returns whether no other sign-in has begun, and the session has not ended, until a later
  /// moment.
  func lasts(until later: RequestOwner) -> Bool {
    later.ends == ends && later.replacements == replacements
  }

  /// Returns whether a later moment's token certainly comes from this sign-in or acts for the same
  /// party.
  func isSame(as later: RequestOwner) -> Bool {
    permits(later) && (isSameSignIn(as: later) || party != nil && party == later.party)
  }

  /// Returns whether the sign-in of a later moment is this sign-in, for any user.
  func isSameSignIn(as later: RequestOwner) -> Bool {
    lasts(until: later) && later.name == name
  }

  /// A text that names the party or, if it is unknown, the sign-in; `nil` if neither is known.
  ///
  /// It is the same in every process. Store only a digest of it.
  package var partyOrSignIn: String? {
    let parts: [String?]
    switch party {
    case .user(let user)?: parts = ["user", user.issuer, user.subject]
    case .client(let id, let server, let grantType, let assertion)?:
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      let assertion = assertion.flatMap { try? encoder.encode($0) }
      parts = [
        "client", id, server, grantType, assertion.map { String(decoding: $0, as: UTF8.self) },
      ]
    case .asserted(let user)?: parts = ["asserted", user]
    case nil:
      guard let name else { return nil }
      parts = ["sign-in", name]
    }
    return parts.map { "\($0?.utf8.count ?? -1):\($0 ?? "")" }.joined()
  }

  /// Returns this owner or, if nobody is signed in, the next one of a series of sign-ins.
  func continuing(_ series: SignInSeries?) -> RequestOwner {
    var owner = self
    if !isSignedIn { owner.series = series }
    return owner
  }

  /// Returns the owner after a sign-in that the request itself needed.
  ///
  /// The user who signed in becomes the owner, unless this is known to be another user, or the app
  /// has ended the session. In these cases the owner stays, and does not permit the new token.
  func following(_ signedIn: RequestOwner) -> RequestOwner {
    guard signedIn.appEndCount == appEndCount else { return self }
    if let party, let other = signedIn.party, party != other { return self }
    return signedIn
  }

  /// Returns the owner after a sign-in that the request itself needed, and that got a token.
  ///
  /// The session may have refreshed the token since, or may even be another user's.
  func following(_ gain: SignIn.Gain) -> RequestOwner { gain.owner.map(following) ?? self }
}

extension RequestOwner.Party {
  /// Reads the party of a record; `nil` if the record does not say for whom its token acts.
  init?(_ record: AccountRecord) {
    if let user = Self(record.token) {
      self = user
    } else if let user = record.grant?.user {
      self = .asserted(user)
    } else if let grant = record.grant, !grant.takesPartyFromSource {
      self = .client(
        id: record.clientID, server: record.issuer ?? record.tokenEndpoint,
        grantType: grant.grantType, grant.assertion)
    } else {
      return nil
    }
  }

  /// Reads the user of a token; `nil` if no validated ID token names one.
  init?(_ token: SQToken) {
    guard let idToken = token.idToken else { return nil }
    self = .user(SignInUser(idToken))
  }
}

extension AccountRecord.Grant {
  /// Whether the configuration's source of assertions names the party, so that it may name another
  /// one each time.
  fileprivate var takesPartyFromSource: Bool {
    grantType == JWTAssertion.grantType && assertion == nil
  }
}
