import SQBasics

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
  package fileprivate(set) var series: SignInSeries?
  /// The party that the token acts for; `nil` if unknown.
  fileprivate(set) var party: Party?
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
    if later.ends == ends && later.replacements == replacements { return true }
    return series?.first != nil && series == later.series
  }

  /// Returns whether a later moment's token certainly comes from this sign-in or acts for the same
  /// party.
  func isSame(as later: RequestOwner) -> Bool {
    permits(later) && (isSameSignIn(as: later) || party != nil && party == later.party)
  }

  /// Returns whether the sign-in of a later moment is this one, whoever signed in.
  func isSameSignIn(as later: RequestOwner) -> Bool {
    later.ends == ends && later.replacements == replacements && later.name == name
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
}

extension RequestOwner.Party {
  /// Reads the party of a record; `nil` if the record does not say for whom its token acts.
  fileprivate init?(_ record: AccountRecord) {
    if let idToken = record.token.idToken {
      self = .user(SignInUser(idToken))
    } else if let grant = record.grant {
      self = .client(
        id: record.clientID, server: record.issuer ?? record.tokenEndpoint,
        grantType: grant.grantType, grant.assertion)
    } else {
      return nil
    }
  }
}

extension TokenSession {
  /// Who is signed in now.
  package var owner: RequestOwner { decide(\.owner) }

  /// Who is signed in now, and the record with the current token, read together.
  package var ownerAndRecord: (RequestOwner, AccountRecord?) { decide { ($0.owner, $0.record) } }

  /// Returns who a token belongs to; `nil` if it is not the current token.
  func owner(of token: SQToken) -> RequestOwner? {
    decide { state in
      guard let current = state.token, current.isSame(as: token) else { return nil }
      return state.owner
    }
  }

  /// Returns who is signed in now, as the owner of a token that was current a moment ago.
  ///
  /// If the token is no longer current, its party and its series are unknown. The counts still judge
  /// it: because they only grow, equal counts mean that no other sign-in has come in between.
  func owner(with token: SQToken) -> RequestOwner {
    if let owner = owner(of: token) { return owner }
    var owner = owner
    (owner.party, owner.series) = (nil, nil)
    return owner
  }
}

extension SessionState {
  /// Who is signed in now.
  var owner: RequestOwner {
    RequestOwner(
      ends: ends, appEndCount: appEndCount, replacements: replacements,
      isSignedIn: record != nil, name: record?.session, series: record.map(series),
      party: record.flatMap { RequestOwner.Party($0) })
  }

  /// Returns the series to which the sign-in of a record belongs.
  private func series(of record: AccountRecord) -> SignInSeries {
    guard let continued, continued.name == record.session else {
      return SignInSeries(first: record.session)
    }
    return continued.series
  }
}
