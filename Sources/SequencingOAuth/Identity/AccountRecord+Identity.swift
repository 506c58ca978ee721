extension AccountRecord {
  /// The record as it was read from a store, with the identity that the SDK validated before.
  ///
  /// The issuer, the audience and the client are compared again. If they do not fit, the record has
  /// no identity.
  func withKeptIdentity() -> AccountRecord {
    guard hasVerifiedIDToken, token.idToken == nil, let text = token.idTokenText,
      let idToken = IDToken(kept: text, issuer: issuer, clientID: clientID)
    else { return self }
    return identified(token.identifying(idToken, nonce: token.nonce))
  }
}
