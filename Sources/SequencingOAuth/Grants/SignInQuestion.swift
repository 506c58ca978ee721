import SQBasics
import SQCrypto

/// The parameters of a sign-in's request, and the validation of the ID token in its response.
package struct SignInQuestion: Sendable {
  /// The identity values that the response must match.
  let expected: ExpectedIdentity
  /// The additional parameters of the authorization request.
  let parameters: [FormCoding.Pair]
  /// The validator of the ID token; `nil` if no ID token is requested, or if none could be
  /// verified.
  let validator: IDTokenValidator?

  /// Combines a sign-in's options with the client's configuration.
  ///
  /// A sign-in on another device has a `nonce` only if the app chose one. RFC 8628 has no `nonce`;
  /// the device code binds the response to the client.
  ///
  /// - Throws: ``SQOAuthError/Code/openIDUnsupported`` if only an ID token can prove that the
  ///   sign-in's demands were met, and none could be verified;
  ///   ``SQOAuthError/Code/invalidConfiguration`` for a parameter that cannot be sent.
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
    let resources = client.configuration.resourceParameters
    let replaced = resources.isEmpty ? names : names.union(["resource"])
    let all =
      client.configuration.authorizationParameters.filter { !replaced.contains($0.name) } + own
      + resources
    // Without a value, the app asks for no permissions, in place of those that it has otherwise.
    let named = all.filter { $0.name != "authorization_details" || !$0.value.isEmpty }
    let needsConsent = !isForDevice && Self.needsConsent(scope, client.configuration.provider)
    parameters =
      named
      + (needsConsent && !named.contains { $0.name == "prompt" }
        ? [.init("prompt", "consent")] : [])
    validator = try client.idTokenValidator(scope: scope)
    let age = parameters.value("max_age")
    let seconds = age.flatMap { $0.utf8.allSatisfy(\.isDigit) ? Int64($0) : nil }
    guard age == nil || seconds != nil else {
      throw SQOAuthError(
        .invalidConfiguration,
        "the parameter max_age is not a whole number of seconds, so the age of the login could "
          + "not be checked; set SignInOptions.maxAge")
    }
    let chosen = options.nonce
    // PKCE already binds the code to the client, but OpenID providers may require a nonce.
    let asksWho = RegisteredClient.asksWho(scope)
    let nonce = !asksWho ? nil : isForDevice ? chosen : chosen ?? RandomString.make()
    expected = ExpectedIdentity(
      scope: scope, nonce: nonce, maximumAge: seconds,
      essentialContexts: options.claims?.essentialContexts,
      wasVerifiable: validator == nil ? nil : true)
    if asksWho, validator == nil, expected.demandsLogin { _ = try client.idTokenValidator() }
  }

  /// Returns whether the provider issues a refresh token for the scope only with the user's
  /// consent.
  ///
  /// - SeeAlso: OpenID Connect Core 1.0, section 11
  private static func needsConsent(_ scope: String?, _ provider: Provider) -> Bool {
    RegisteredClient.asksWho(scope) && provider.asksConsentForOfflineAccess
      && scope?.words.contains("offline_access") == true
  }

  /// Returns the additional parameters; for a signed response, with the `response_mode` that
  /// requests it.
  ///
  /// - SeeAlso: JARM, section 2.3
  func parameters(isResponseSigned: Bool) -> [FormCoding.Pair] {
    guard isResponseSigned else { return parameters }
    let mode = asksForForm ? "form_post.jwt" : "jwt"
    return parameters.filter { $0.name != "response_mode" } + [.init("response_mode", mode)]
  }

  /// Whether the provider must not show any page.
  ///
  /// - SeeAlso: OpenID Connect Core 1.0, section 3.1.2.1 (`prompt`)
  var forbidsPages: Bool {
    parameters.value("prompt")?.words.contains("none") == true
  }

  /// Whether the browser posts the response as a form, instead of sending it in the redirect's URL.
  ///
  /// - SeeAlso: OAuth 2.0 Form Post Response Mode
  var asksForForm: Bool {
    parameters.value("response_mode") == SignInOptions.ResponseMode.formPost.rawValue
  }
}

extension SignInQuestion: Redacted {}
