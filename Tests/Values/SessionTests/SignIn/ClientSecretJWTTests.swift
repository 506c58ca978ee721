import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// Clients that sign an assertion with their secret (`client_secret_jwt`).
@Suite(.timeLimit(.minutes(1))) struct ClientSecretJWTTests {
  private static let secret = "a secret with at least 32 bytes in it"

  private func module(
    _ method: ClientAuthentication?, secret: String = secret, metadata: String? = nil,
    _ http: ScriptedTransport
  ) throws -> AuthorizationModule {
    var environment = ClientEnvironment()
    environment.transport = http
    let provider: Provider =
      metadata == nil
      ? .endpoints(token: "https://id.example/token", issuer: "https://id.example")
      : .issuer(DiscoverySignInTests.issuer)
    return AuthorizationModule(
      configuration: try ClientConfiguration(
        clientID: "client", clientSecret: secret, provider: provider, clientAuthentication: method),
      environment: environment)
  }

  @Test func `each request has a new assertion, and the secret is never sent`() async throws {
    let http = ScriptedTransport()
    let module = try module(.clientSecretJWT, http)
    for _ in 0..<2 { try await module.requestAccessTokenAsClient() }
    var identifiers: [JSONValue?] = []
    for (form, request) in zip(http.forms, http.requests) {
      #expect(request.headers["Authorization"] == nil && form["client_secret"] == nil)
      #expect(!form.values.contains { $0.contains(Self.secret) })
      #expect(form["client_id"] == "client")
      #expect(form["client_assertion_type"] == ClientCredentials.assertionType)
      let assertion = try CompactJWS(try #require(form["client_assertion"]))
      try assertion.verify(secret: Data(Self.secret.utf8), algorithm: .hs256)
      let claims = try assertion.claims()
      #expect(claims["iss"] == "client" && claims["sub"] == "client")
      #expect(claims["aud"] == "https://id.example", "one text, the issuer")
      identifiers.append(claims["jti"])
    }
    #expect(Set(identifiers).count == 2)
  }

  @Test(arguments: ["", "31 bytes are not enough for HMAC"])
  func `a missing or short secret is rejected by the configuration`(secret: String) {
    let short = String(secret.prefix(31))
    let error = failure(.invalidConfiguration) {
      try module(.clientSecretJWT, secret: short, ScriptedTransport())
    }
    #expect(error?.message.contains("32 bytes") == true)
  }

  @Test(arguments: [
    (#"["client_secret_jwt","private_key_jwt"]"#, true),
    (#"["client_secret_jwt","client_secret_basic"]"#, false),
    (#"["client_secret_jwt","client_secret_post"]"#, false),
  ])
  func `an assertion is sent only if the server accepts the secret in no other way`(
    methods: String, signs: Bool
  ) async throws {
    let document = DiscoverySignInTests.document(
      #","token_endpoint_auth_methods_supported":\#(methods)"#)
    let http = ScriptedTransport(DiscoverySignInTests.server(document))
    try await module(nil, metadata: document, http).requestAccessTokenAsClient()
    let form = try #require(http.forms.last)
    #expect((form["client_assertion"] != nil) == signs)
  }

  @Test
  func `if the server accepts only client_secret_jwt, a short secret fails before the request`()
    async throws
  {
    let document = DiscoverySignInTests.document(
      #","token_endpoint_auth_methods_supported":["client_secret_jwt"]"#)
    let http = ScriptedTransport(DiscoverySignInTests.server(document))
    let module = try module(nil, secret: "short", metadata: document, http)
    await failure(.invalidConfiguration) { try await module.requestAccessTokenAsClient() }
    #expect(http.forms.isEmpty)
  }
}
