import Basics

/// What one sign-in asks the provider, and how the ID token in its answer is validated.
struct SignInQuestion: Sendable {
  /// The scopes to ask for; `nil` for the server's default.
  let scope: String?
  /// The value that the ID token must repeat; `nil` if no ID token is asked for.
  let nonce: String?
  /// The further parameters of the authorization request.
  let parameters: [FormCoding.Pair]
  /// The validator of the ID token; `nil` if none is asked for.
  let validator: IDTokenValidator?
  private let essentialContexts: [String]

  /// Combines a sign-in's options with the client's configuration.
  ///
  /// - Throws: ``SQOAuthError/Code/openIDUnsupported`` if an ID token could not be verified;
  ///   ``SQOAuthError/Code/invalidConfiguration`` for a parameter that cannot be sent.
  init(_ options: SignInOptions, _ client: RegisteredClient) throws(SQOAuthError) {
    let own = try options.pairs()
    let names = Set(own.map(\.name))
    parameters =
      client.configuration.authorizationParameters.filter { !names.contains($0.name) } + own
    scope = options.scope ?? client.configuration.scope
    validator = try client.idTokenValidator(scope: scope)
    // PKCE already binds the code to the client, but OpenID providers may insist on a nonce.
    nonce =
      validator == nil ? nil : options.nonceThatTheAppMakesAnew ?? RandomString.make()
    essentialContexts = options.claims?.essentialContexts ?? []
  }

  /// Whether the provider must not show any page.
  ///
  /// - SeeAlso: OpenID Connect Core 1.0, section 3.1.2.1 (`prompt`)
  var forbidsPages: Bool {
    parameters.value("prompt")?.split(separator: " ").contains("none") == true
  }

  /// Validates the ID token of the answer and returns the token with the identity of its user.
  func identify(_ issued: IssuedToken, code: String) async throws(SQOAuthError) -> SQToken {
    guard let validator, let nonce else { return issued.token }
    guard let text = issued.token.idTokenText else {
      // A provider may grant fewer scopes than were asked for, and says so.
      guard issued.token.scopes.contains("openid") else { return issued.token }
      throw SQOAuthError(
        .idTokenMissing,
        "the scope has \"openid\", but the token response has no ID token; check that the provider "
          + "supports OpenID Connect for this client")
    }
    var expectation = issued.expectation(.required(nonce))
    expectation.code = code
    expectation.maximumAge = parameters.value("max_age").flatMap(Int64.init).map { .seconds($0) }
    expectation.essentialContexts = essentialContexts
    return issued.token.identifying(try await validator.validate(text, expectation), nonce: nonce)
  }
}

extension SignInQuestion: Redacted {}
