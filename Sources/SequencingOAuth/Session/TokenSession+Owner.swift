import SQBasics

// Who is signed in, and whose a token is.
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
  /// If the token is no longer current, only its own ID token names its party, and its series is
  /// unknown. Without an ID token, the counts still judge it: because they only grow, equal counts
  /// mean that no other sign-in has come in between.
  func owner(with token: SQToken) -> RequestOwner {
    if let owner = owner(of: token) { return owner }
    var owner = owner
    (owner.party, owner.series) = (RequestOwner.Party(token), nil)
    return owner
  }
}

extension SessionState {
  /// Who is signed in now.
  var owner: RequestOwner {
    RequestOwner(
      ends: ends, appEndCount: appEndCount, replacements: replacements,
      isSignedIn: record != nil, name: record?.session,
      series: record.map(series), party: record.flatMap { RequestOwner.Party($0) })
  }

  /// Returns the series to which the sign-in of a record belongs.
  private func series(of record: AccountRecord) -> SignInSeries {
    guard let continued, continued.name == record.session else {
      return SignInSeries(first: record.session)
    }
    return continued.series
  }
}
