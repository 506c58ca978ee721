import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// The parameters that a sign-in adds to its authorization request.
@Suite struct SignInOptionsTests {
  private func question(
    _ options: SignInOptions, scope: String? = "openid", parameters: [String: String] = [:],
    host: String = "id.example", isForDevice: Bool = false
  ) throws -> SignInQuestion {
    let configuration = try ClientConfiguration(
      clientID: "app", redirectURI: "http://127.0.0.1/callback", scope: scope,
      provider: .endpoints(
        authorization: "https://\(host)/authorize", token: "https://\(host)/token",
        jwks: "https://\(host)/keys", issuer: "https://\(host)"),
      authorizationParameters: parameters)
    return try SignInQuestion(
      options,
      RegisteredClient(
        configuration: configuration, environment: ClientEnvironment(),
        metadata: try #require(configuration.metadata)), isForDevice: isForDevice)
  }

  private func names(_ question: SignInQuestion) -> [String: String] {
    Dictionary(question.parameters.map { ($0.name, $0.value) }) { "\($0), \($1)" }
  }

  @Test func `a sign-in without options adds no parameters`() throws {
    let question = try question(SignInOptions(), parameters: ["audience": "api"])
    #expect(names(question) == ["audience": "api"])
    #expect(question.expected.scope == "openid" && !question.forbidsPages)
  }

  @Test func `each option becomes a parameter of the authorization request`() throws {
    var options = SignInOptions()
    options.scope = "openid email"
    options.prompt = [.login, .consent]
    options.maxAge = .milliseconds(90_999)
    options.loginHint = "alice@example.com"
    options.idTokenHint = "a.b.c"
    options.acrValues = ["gold", "silver"]
    options.uiLocales = ["fr-CA", "fr"]
    options.claims = ClaimsRequest(
      idToken: ["acr": .essential(values: ["gold"]), "auth_time": .essential],
      userInfo: ["name": .voluntary, "locale": .voluntary(values: ["fr", "en"])])
    options.responseMode = .formPost
    options.parameters = ["resource": "https://api.example"]
    let question = try question(options)
    #expect(question.expected.scope == "openid email")
    #expect(
      names(question) == [
        "prompt": "consent login", "max_age": "90", "login_hint": "alice@example.com",
        "id_token_hint": "a.b.c", "acr_values": "gold silver", "ui_locales": "fr-CA fr",
        "response_mode": "form_post", "resource": "https://api.example",
        "claims": #"{"id_token":{"acr":{"essential":true,"value":"gold"},"auth_time":"#
          + #"{"essential":true}},"userinfo":{"locale":{"values":["fr","en"]},"name":null}}"#,
      ])
  }

  @Test(arguments: ["300.0", "1e3", " 300", "-1", "", "99999999999999999999"])
  func `a parameter max_age that is no whole number of seconds is rejected`(age: String) {
    failure(.invalidConfiguration) {
      try question(SignInOptions(), parameters: ["max_age": age])
    }
  }

  @Test func `a parameter max_age is checked like the option`() throws {
    let question = try question(SignInOptions(), parameters: ["max_age": "300"])
    #expect(question.expected.maximumAge == 300)
  }

  @Test(
    arguments: [
      (.seconds(Int64.max) * 18, "3153600000"), (.seconds(Int64.max), "3153600000"),
      (.seconds(Int64.min) * 18, "0"),
    ] as [(Duration, String)])
  func `the largest max_age is a hundred years, and the smallest is zero`(
    maxAge: Duration, text: String
  ) throws {
    var options = SignInOptions()
    options.maxAge = maxAge
    #expect(names(try question(options)) == ["max_age": text])
  }

  @Test func `an option replaces the client's parameter`() throws {
    var options = SignInOptions()
    options.prompt = [.selectAccount]
    options.parameters = ["audience": "other", "prompt": "login"]
    let question = try question(options, parameters: ["audience": "api", "prompt": "consent"])
    #expect(names(question) == ["prompt": "select_account", "audience": "other"])
  }

  @Test func `a silent sign-in sends prompt=none`() throws {
    var options = SignInOptions()
    options.isSilent = true
    let question = try question(options, parameters: ["prompt": "login"])
    #expect(names(question) == ["prompt": "none"] && question.forbidsPages)
  }

  /// OpenID Connect Core 1.0, section 11.
  @Test
  func `openid offline_access adds prompt=consent, except for devices, Entra ID or a set prompt`()
    throws
  {
    let scope = "openid offline_access"
    #expect(names(try question(SignInOptions(), scope: scope)) == ["prompt": "consent"])
    #expect(names(try question(SignInOptions(), scope: "openid offline")).isEmpty)
    #expect(names(try question(SignInOptions(), scope: "offline_access")).isEmpty, "OAuth alone")
    #expect(names(try question(SignInOptions(), scope: scope, isForDevice: true)).isEmpty)
    var options = SignInOptions()
    options.scope = scope
    #expect(names(try question(options)) == ["prompt": "consent"])
    let own = try question(options, parameters: ["prompt": "login"])
    #expect(names(own) == ["prompt": "login"])
    options.prompt = [.selectAccount]
    #expect(names(try question(options)) == ["prompt": "select_account"])
    options.isSilent = true
    #expect(names(try question(options)) == ["prompt": "none"])
    let entra = try question(SignInOptions(), scope: scope, host: "login.microsoftonline.com")
    #expect(names(entra).isEmpty, "users may not consent to what an administrator granted")
  }

  @Test(arguments: ["state", "nonce", "code_challenge", "redirect_uri", "client_id", ""])
  func `a protocol parameter or a parameter without a name cannot be added`(name: String) throws {
    var options = SignInOptions()
    options.parameters = [name: "x"]
    failure(.invalidConfiguration) { try question(options) }
  }

  // MARK: The nonce

  @Test(arguments: ["openid", "profile openid", "openid profile"])
  func `each sign-in with OpenID Connect has its own nonce`(scope: String) throws {
    let nonces = try (0..<20).map { _ in try question(SignInOptions(), scope: scope).expected.nonce
    }
    #expect(Set(nonces).count == 20 && nonces.allSatisfy { $0?.utf8.count ?? 0 >= 43 })
  }

  @Test(arguments: [nil, "", "openidx", "profile", "OPENID", "open id"])
  func `a sign-in without the openid scope has no nonce`(scope: String?) throws {
    var options = SignInOptions()
    options.nonce = "n-0S6_WzA2Mj"
    #expect(try question(options, scope: scope).expected.nonce == nil)
  }

  @Test func `an app can provide the nonce`() throws {
    var options = SignInOptions()
    options.nonce = "n-0S6_WzA2Mj"
    #expect(try question(options).expected.nonce == "n-0S6_WzA2Mj")
  }
}
