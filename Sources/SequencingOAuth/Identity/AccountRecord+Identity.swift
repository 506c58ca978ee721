import SQBasics

// The user's identity in an account's record, which was validated before it was stored.

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

extension IDToken {
  /// Reads an ID token that was validated before and kept since; `nil` if it is another client's.
  ///
  /// The signature and the times are not checked again: no start of a program needs the network for
  /// a user who is signed in, and an ID token may expire while its sign-in lasts.
  init?(kept compactForm: String, issuer: String?, clientID: String) {
    guard let token = try? CompactJWS(compactForm), let all = try? token.claims(),
      let claims = try? IDTokenClaims(all), claims.audience.contains(clientID),
      claims.issuer == issuer
    else { return nil }
    self.init(validated: claims, compactForm: compactForm)
  }
}
