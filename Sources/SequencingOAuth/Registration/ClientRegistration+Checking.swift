import SQBasics

// The comparison of a registration with the client's request.
extension ClientRegistration {
  /// The authentication methods that a registered client can use.
  static let supported: [ClientAuthentication] = [
    .publicClient, .basic, .post, .privateKeyJWT, .clientSecretJWT,
  ]

  /// Throws if the registration lacks something that the client requested and relies on.
  ///
  /// The redirect URIs and the keys must be equal to those of `metadata`. The grants must include
  /// those of `metadata`; only `refresh_token`, or one of two grants that sign users in, may be
  /// missing. The authentication must not be weaker than the requested one: a server may give a
  /// secret to a client that requested none, and may choose between Basic and the body. If
  /// `metadata` requests no method, any method that the client can use is accepted.
  ///
  /// - Throws: ``SQOAuthError/Code/registrationMismatch``; the message names the difference.
  public func check(against metadata: ClientMetadata) throws(SQOAuthError) {
    func require(_ condition: Bool, _ reason: @autoclosure () -> String) throws(SQOAuthError) {
      guard condition else {
        throw SQOAuthError(.registrationMismatch, "the server registered \(reason())")
      }
    }
    try require(
      hasRedirectURIs(metadata.redirectURIs)
        || metadata.acceptsFewerRedirectURIs && isRedirecting(within: metadata.redirectURIs),
      "other redirect URIs than the requested ones, so users might be sent elsewhere")
    try require(
      Self.supported.contains(clientAuthentication),
      "the client for an authentication that this SDK does not support")
    try require(
      clientSecret != nil || !clientAuthentication.usesSecret,
      "the client for an authentication by a secret, but sent no secret")
    try require(
      metadata.registeredAuthentication.map { clientAuthentication.serves(inPlaceOf: $0) }
        ?? metadata.possibleAuthentications.contains(clientAuthentication),
      "the client for an authentication that is weaker than the requested one, or that "
        + "needs a key")
    try require(
      hasKeys(of: metadata), "client keys other than the requested ones")
    let lost = metadata.grantTypes.filter { !allows($0) }
    let hasSignIn = Self.signInGrants.contains(where: allows)
    // The client still works without refresh tokens, and with one of two ways to sign users in.
    try require(
      lost.allSatisfy { $0 == "refresh_token" || hasSignIn && Self.signInGrants.contains($0) },
      "the client without a grant that it needs")
    let usesCode = metadata.grantTypes.contains("authorization_code")
    let responses = members["response_types"]?.array?.compactMap(\.string) ?? []
    try require(
      !usesCode || lost.contains("authorization_code") || responses.isEmpty
        || responses.contains("code"),
      "the client without the response type \"code\"")
  }

  /// Returns whether the server has registered the client for a grant, according to its response.
  ///
  /// An empty list has no meaning: a client without any grant would be useless.
  package func allows(_ grantType: String) -> Bool {
    let listed = members["grant_types"]?.array?.compactMap(\.string) ?? []
    return listed.isEmpty || listed.contains { $0 == grantType }
  }

  /// The grants that sign users in; a client that has asked for both works with one of them.
  private static let signInGrants = ["authorization_code", DeviceAuthorization.grantType]

  /// Returns whether ``serves(_:)`` is true, and the server signs, or was asked to sign, by algorithms
  /// that the profile of `metadata` allows.
  func fits(_ metadata: ClientMetadata) -> Bool {
    serves(metadata) && hasSignatures(of: metadata)
  }

  /// Returns whether the client can be used as described, and has asked the server for all grants
  /// and scopes of `metadata`.
  func serves(_ metadata: ClientMetadata) -> Bool {
    let isAsked = askedGrants.map { Set(metadata.grantTypes).isSubset(of: $0) } ?? true
    // A server that registered fewer redirect URIs than the client asked for would do so again.
    let isWhole =
      hasRedirectURIs(metadata.redirectURIs)
      || askedRedirectURIs.map { Set($0) == Set(metadata.redirectURIs) } == true
    return isAsked && isWhole && hasScopes(of: metadata)
      && (try? check(against: metadata)) != nil
  }

  /// Returns whether the client was registered for all scopes of a description.
  ///
  /// A server that registered fewer scopes than the app asked for would do so again.
  private func hasScopes(of metadata: ClientMetadata) -> Bool {
    guard let wanted = metadata.scope, let known = askedScope ?? scope else { return true }
    return Set(wanted.words).isSubset(of: known.words)
  }

  /// Returns whether the server signs by algorithms that the profile of a description allows.
  ///
  /// A server that was asked for such algorithms, and registered others, would do so again.
  private func hasSignatures(of metadata: ClientMetadata) -> Bool {
    guard !Set(metadata.grantTypes).isDisjoint(with: Self.signInGrants) else { return true }
    return metadata.profile.signatureMembers.allSatisfy { member in
      metadata.additionalMembers[member] != nil || askedMembers?.contains(member) == true
        || hasAlgorithm(member, of: metadata.profile)
    }
  }

  /// Returns whether the server has registered an algorithm of a profile's list in a member.
  func hasAlgorithm(_ member: String, of profile: SecurityProfile) -> Bool {
    let registered = JWSAlgorithm.all(in: members[member]?.string.map { [$0] })
    return !registered.isDisjoint(with: profile.algorithms ?? [])
  }

  /// Returns whether the client authenticates as it does by another of its registrations.
  package func hasCredentials(of other: ClientRegistration) -> Bool {
    clientSecret == other.clientSecret && clientAuthentication == other.clientAuthentication
      && clientSecretExpirationDate == other.clientSecretExpirationDate
      && sentKeys == other.sentKeys
  }

  /// Returns this registration with its redirect URIs in the order of `uris`, if these are the same
  /// URIs.
  func ordered(as uris: [String]) -> ClientRegistration {
    guard hasRedirectURIs(uris) else { return self }
    var registration = self
    registration.redirectURIs = uris
    return registration
  }

  private func hasRedirectURIs(_ uris: [String]) -> Bool {
    // Compared as bytes, because Swift treats some different characters as equal.
    func sorted(_ texts: [String]) -> [[UInt8]] {
      texts.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
    }
    return sorted(redirectURIs) == sorted(uris)
  }

  /// Returns whether there are redirect URIs, and all of them are in `uris`.
  private func isRedirecting(within uris: [String]) -> Bool {
    !redirectURIs.isEmpty
      && redirectURIs.allSatisfy { uri in uris.contains { $0.utf8.elementsEqual(uri.utf8) } }
  }

  /// Returns whether the client sent the keys of `metadata`, and the server confirms these keys or
  /// does not mention keys.
  private func hasKeys(of metadata: ClientMetadata) -> Bool {
    let keys = metadata.keys.compactMap(\.publicJWK)
    if let sentKeys, Set(sentKeys) != Set(keys) { return false }
    // Some servers write `null` or an empty text for members that they do not store.
    guard let answer = members["jwks"], ![.null, ""].contains(answer), !keys.isEmpty else {
      return true
    }
    // A server may add members to a key, or omit members that are not part of the key itself.
    func halves(_ keys: [JSONValue]) -> Set<[String: String]> {
      Set(keys.compactMap { $0.object.map(JSONWebKey.identifyingMembers(of:)) })
    }
    return halves(answer["keys"].array ?? []) == halves(keys)
  }
}

extension ClientAuthentication {
  /// Returns whether a client that requested the method `asked` may use this method instead.
  ///
  /// A server may give a secret to a client that requested none, and chooses how a secret is sent.
  func serves(inPlaceOf asked: ClientAuthentication) -> Bool {
    switch asked {
    case self: true
    case .privateKeyJWT, .clientSecretJWT: false
    default: [.basic, .post].contains(self)
    }
  }
}
