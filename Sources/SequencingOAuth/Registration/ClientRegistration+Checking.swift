import SQBasics

// Whether the server has registered what the client asked for.
extension ClientRegistration {
  /// The authentications that a registered client can use.
  static let supported: [ClientAuthentication] = [.publicClient, .basic, .post, .privateKeyJWT]

  /// Throws unless the registration is what a client asked for, as far as the client relies on it.
  ///
  /// The redirect URIs and the keys must be those of `metadata`, and the grants must include its
  /// grants. The authentication must not be weaker than its authentication: a server may give a
  /// secret to a client that asked for none, and may choose between Basic and the body. Any that
  /// the client can use will do if `metadata` names none.
  ///
  /// - Throws: ``SQOAuthError/Code/registrationMismatch``; the message names the difference.
  public func check(against metadata: ClientMetadata) throws(SQOAuthError) {
    func require(_ condition: Bool, _ reason: String) throws(SQOAuthError) {
      guard condition else {
        throw SQOAuthError(.registrationMismatch, "the server registered \(reason)")
      }
    }
    try require(
      hasRedirectURIs(metadata.redirectURIs),
      "other redirect URIs than those that were asked for, so users might be sent elsewhere")
    try require(
      Self.supported.contains(clientAuthentication),
      "the client for an authentication that this SDK does not have")
    try require(
      clientSecret != nil || [.publicClient, .privateKeyJWT].contains(clientAuthentication),
      "the client for an authentication by a secret, and sent none")
    try require(
      metadata.registeredAuthentication.map { clientAuthentication.serves(inPlaceOf: $0) }
        ?? metadata.possibleAuthentications.contains(clientAuthentication),
      "the client for an authentication that is weaker than the one that was asked for, or that "
        + "needs a key")
    try require(
      hasKeys(of: metadata), "other keys of the client than those that were asked for")
    // An empty list says nothing: a client without any grant would be none.
    let listed = members["grant_types"]?.array?.compactMap(\.string)
    let granted = listed?.isEmpty == true ? nil : listed
    let lost = granted.map { granted in metadata.grantTypes.filter { !granted.contains($0) } } ?? []
    // Without refresh tokens the client still works.
    try require(
      lost.allSatisfy { $0 == "refresh_token" }, "the client without a grant that it needs")
  }

  func fits(_ metadata: ClientMetadata) -> Bool { (try? check(against: metadata)) != nil }

  /// This registration with its redirect URIs in another order, if they are the same.
  func ordered(as uris: [String]) -> ClientRegistration {
    guard hasRedirectURIs(uris) else { return self }
    var registration = self
    registration.redirectURIs = uris
    return registration
  }

  private func hasRedirectURIs(_ uris: [String]) -> Bool {
    // Compared as bytes, since some letters outside ASCII equal letters in it.
    func sorted(_ texts: [String]) -> [[UInt8]] {
      texts.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
    }
    return sorted(redirectURIs) == sorted(uris)
  }

  /// Whether the client has sent these keys, and the server has them or does not say.
  private func hasKeys(of metadata: ClientMetadata) -> Bool {
    let keys = metadata.keys.compactMap(\.publicJWK)
    if let sentKeys, Set(sentKeys) != Set(keys) { return false }
    // Servers that write their model as it is have `null` or nothing for what they do not keep.
    guard let answer = members["jwks"], ![.null, ""].contains(answer), !keys.isEmpty else {
      return true
    }
    // A server may add members to a key, or leave out what is not the key itself.
    func halves(_ keys: [JSONValue]) -> Set<[String: JSONValue]> {
      Set(keys.compactMap { $0.object?.filter { JWKText.publicNames.contains($0.key) } })
    }
    return halves(answer["keys"].array ?? []) == halves(keys)
  }
}

extension ClientAuthentication {
  /// Whether a client that asked for another authentication may use this one.
  ///
  /// A server may give a secret to a client that asked for none, and chooses how a secret is sent.
  func serves(inPlaceOf asked: ClientAuthentication) -> Bool {
    switch asked {
    case self: true
    case .privateKeyJWT: false
    default: [.basic, .post].contains(self)
    }
  }
}
