import SQBasics

/// The validation of the identity of a token's user.
extension RegisteredClient {
  /// Returns whether a scope requests the user's identity.
  package static func asksWho(_ scope: String?) -> Bool {
    scope?.words.contains("openid") == true
  }

  /// Returns what a request for a token with this scope needs of the server's metadata.
  package static func metadataNeeds(ofScope scope: String?) -> MetadataNeeds {
    asksWho(scope) ? .identity : .endpoints
  }

  /// Returns the validator of ID tokens; `nil` if the scope requests no ID token, or if no ID token
  /// could be verified.
  ///
  /// In the second case the tokens are still valid for requests, so the sign-in continues without
  /// an identity. A client that chose a symmetric algorithm expects validated ID tokens, so for
  /// this client the second case is an error.
  ///
  /// - Throws: ``SQOAuthError/Code/openIDUnsupported`` if the client chose a symmetric algorithm
  ///   and no ID token could be verified, for example because the secret is too short.
  package func idTokenValidator(scope: String?) throws(SQOAuthError) -> IDTokenValidator? {
    guard Self.asksWho(scope) else { return nil }
    do throws(SQOAuthError) {
      return try idTokenValidator()
    } catch {
      guard configuration.idTokenAlgorithm?.isSymmetric != true else { throw error }
      return nil
    }
  }

  /// Returns the validator of the ID token that ends an earlier request for a sign-in; `nil` as for
  /// ``idTokenValidator(scope:)``.
  ///
  /// The request may come from another host, and the server's metadata may have changed since.
  ///
  /// - Throws: ``SQOAuthError/Code/openIDUnsupported`` if the request relied on the validation, and
  ///   no ID token could be verified now.
  package func idTokenValidator(
    for expected: ExpectedIdentity
  ) throws(SQOAuthError) -> IDTokenValidator? {
    let validator = try idTokenValidator(scope: expected.scope)
    guard validator == nil, Self.asksWho(expected.scope), expected.reliesOnValidation else {
      return validator
    }
    do throws(SQOAuthError) {
      return try idTokenValidator()
    } catch {
      throw SQOAuthError(
        error.isOutage ? .openIDUnsupported : error.code,
        "the sign-in began with the provider's keys known, and now they are not, perhaps because a "
          + "metadata document could not be fetched; the code was not sent, so try again: "
          + error.message, cause: error)
    }
  }

  /// Returns the validator of ID tokens.
  ///
  /// - Throws: ``SQOAuthError/Code/openIDUnsupported``, and the message says what the provider or
  ///   the configuration lacks; the reason if the address of the provider's keys cannot be used.
  package func idTokenValidator() throws(SQOAuthError) -> IDTokenValidator {
    try IDTokenValidator(configuration, metadata, environment)
  }

  /// Returns the verifier of one kind of text that the provider signs for the client.
  package func signatures(
    of kind: SignedText = .idToken
  ) throws(SQOAuthError) -> IssuerSignatures {
    try IssuerSignatures(configuration, metadata, environment, for: kind)
  }

  /// Returns the verifier of tokens or responses with a signature by one of these algorithms.
  package func signatures(
    ofTokensBy algorithms: Set<JWSAlgorithm>
  ) throws(SQOAuthError) -> IssuerSignatures {
    try IssuerSignatures(ofTokensBy: algorithms, configuration, metadata, environment)
  }

  /// Returns the validated identity of a token's user, or throws the reason why there is none.
  func identity(of token: SQToken) throws(SQOAuthError) -> IDToken {
    if let idToken = token.idToken { return idToken }
    guard Self.asksWho(token.scope) else {
      throw SQOAuthError(
        .idTokenMissing,
        "the sign-in brought neither the scope \"openid\" nor an ID token, so it is not known who "
          + "the user is; add \"openid\" to the scope, if it is not there, and sign in again")
    }
    _ = try idTokenValidator()
    guard token.idTokenText == nil else {
      throw SQOAuthError(
        .idTokenMissing,
        "the ID token of the sign-in was not verified, so it is not known who the user is; sign in "
          + "again")
    }
    throw SQOAuthError(
      .idTokenMissing,
      "the provider granted \"openid\" but sent no ID token, so it is not known who the user is; "
        + "sign in with a browser, or check that the provider supports OpenID Connect for this client"
    )
  }
}
