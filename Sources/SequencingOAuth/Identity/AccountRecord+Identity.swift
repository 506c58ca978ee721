import SQBasics

// Restores the user's identity in a stored record. The identity was validated before it was stored.

extension AccountRecord {
  /// Returns this stored record with the user's identity, if its ID token was validated earlier.
  ///
  /// The issuer and the client are checked again. If they do not match the ID token, the record
  /// gets no identity.
  func withKeptIdentity() -> AccountRecord {
    guard hasVerifiedIDToken, token.idToken == nil, let text = token.idTokenText,
      let idToken = IDToken(kept: text, issuer: issuer, clientID: clientID)
    else { return self }
    return identified(token.identifying(idToken, nonce: token.nonce))
  }
}

extension IDToken {
  /// Reads a stored ID token that was validated earlier; returns `nil` if it cannot be read, is for
  /// another client or is from another issuer.
  ///
  /// The signature and the times are not checked again, so that a program can start without the
  /// network, and because an ID token may expire while its user stays signed in.
  init?(kept compactForm: String, issuer: String?, clientID: String) {
    guard let token = try? CompactJWS(compactForm), let all = try? token.claims(),
      let claims = try? IDTokenClaims(all), claims.audience.contains(clientID),
      IssuerTemplate.isKept(claims, of: issuer)
    else { return nil }
    self.init(validated: claims, compactForm: compactForm)
  }
}
