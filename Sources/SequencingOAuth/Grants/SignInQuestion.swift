import SQBasics
import SQCrypto

/// What one sign-in asks the provider, and how the ID token in its answer is validated.
package struct SignInQuestion: Sendable {
  /// What is asked for, and what the answer must say.
  let expected: ExpectedIdentity
  /// The further parameters of the authorization request.
  let parameters: [FormCoding.Pair]
  /// The validator of the ID token; `nil` if none is asked for, or none could be verified.
  let validator: IDTokenValidator?

  /// Combines a sign-in's options with the client's configuration.
  ///
  /// A sign-in on another device has a `nonce` only if the app chose one: RFC 8628 knows none, and
  /// binds the answer to the client by the device code.
  ///
  /// - Throws: ``SQOAuthError/Code/openIDUnsupported`` if the sign-in demands something that only an
  ///   ID token shows, and none could be verified; ``SQOAuthError/Code/invalidConfiguration`` for a
  ///   parameter that cannot be sent.
  init(
    _ options: SignInOptions, _ client: RegisteredClient, isForDevice: Bool = false
  ) throws(SQOAuthError) {
    guard !isForDevice || options.responseMode == nil else {
      throw SQOAuthError(
        .invalidConfiguration,
        "a sign-in on another device has no redirect, so it takes no response mode")
    }
    let own = try options.pairs()
    let names = Set(own.map(\.name))
    let scope = options.scope ?? client.configuration.scope
    let named =
      client.configuration.authorizationParameters.filter { !names.contains($0.name) } + own
    let needsConsent = !isForDevice && Self.needsConsent(scope, client.configuration.provider)
    parameters =
      named
      + (needsConsent && !named.contains { $0.name == "prompt" }
        ? [.init("prompt", "consent")] : [])
    validator = try client.idTokenValidator(scope: scope)
    let chosen = options.nonceThatTheAppMakesAnew
    // PKCE already binds the code to the client, but OpenID providers may insist on a nonce.
    let asksWho = RegisteredClient.asksWho(scope)
    let nonce = !asksWho ? nil : isForDevice ? chosen : chosen ?? RandomString.make()
    expected = ExpectedIdentity(
      scope: scope, nonce: nonce, maximumAge: parameters.value("max_age").flatMap(Int64.init),
      essentialContexts: options.claims?.essentialContexts)
    if asksWho, validator == nil, expected.demandsLogin { _ = try client.idTokenValidator() }
  }

  /// Whether the provider gives a refresh token for the scope only if it asks the user.
  ///
  /// - SeeAlso: OpenID Connect Core 1.0, section 11
  private static func needsConsent(_ scope: String?, _ provider: Provider) -> Bool {
    RegisteredClient.asksWho(scope) && provider.asksConsentForOfflineAccess
      && scope?.split(separator: " ").contains("offline_access") == true
  }

  /// Whether the provider must not show any page.
  ///
  /// - SeeAlso: OpenID Connect Core 1.0, section 3.1.2.1 (`prompt`)
  var forbidsPages: Bool {
    parameters.value("prompt")?.split(separator: " ").contains("none") == true
  }

  /// Whether the browser posts the answer instead of carrying it in the redirect's URL.
  ///
  /// - SeeAlso: OAuth 2.0 Form Post Response Mode
  var asksForForm: Bool {
    parameters.value("response_mode") == SignInOptions.ResponseMode.formPost.rawValue
  }
}

extension SignInQuestion: Redacted {}
