extension AccountRecord {
  /// The client that got a token, and the authorization server that issued it.
  struct Origin: Sendable, Hashable {
    let clientID: String
    /// The issuer of the server; `nil` if unknown.
    let issuer: String?
    /// The token endpoint, which identifies a server without an issuer.
    let tokenEndpoint: String?
  }

  /// The client and the server of the record's token.
  var origin: Origin {
    Origin(clientID: clientID, issuer: issuer, tokenEndpoint: tokenEndpoint)
  }
}
