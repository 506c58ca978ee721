import Foundation
import SQBasics
import Testing

@testable import SQCrypto
@testable import SequencingOAuth
@testable import TestSupport

/// The resources of a configuration in every kind of request, byte for byte.
///
/// - SeeAlso: RFC 8707, section 2
@Suite(.timeLimit(.minutes(1))) struct ResourceIndicatorTests {
  /// Identifiers with everything that a URL parser could change.
  private static let identifiers = [
    "https://API.example:443/a/../b%2fc/?x=%20y", "urn:example:files",
  ]
  private static let document = #"""
    {"issuer":"https://id.example","authorization_endpoint":"https://id.example/authorize",
     "token_endpoint":"https://id.example/token","code_challenge_methods_supported":["S256"],
     "device_authorization_endpoint":"https://id.example/device",
     "pushed_authorization_request_endpoint":"https://id.example/par",
     "request_object_signing_alg_values_supported":["ES256"]}
    """#

  private func fixture(
    resources: [String] = identifiers, parameter: String? = nil,
    change: (inout ClientConfiguration) -> Void = { _ in }
  ) throws -> OAuthFixture {
    let fixture = OAuthFixture(
      answer: { request in
        switch request.url.path() {
        case "/token":
          try await ScriptedTransport.token(members: #""expires_in":3600,"refresh_token":"R""#)(
            request)
        case "/par":
          try await ScriptedTransport.json(
            #"{"request_uri":"urn:x","expires_in":60}"#, status: 201)(request)
        case "/device":
          try await ScriptedTransport.json(
            #"""
            {"device_code":"D","user_code":"U","verification_uri":"https://id.example/device",
             "expires_in":60,"interval":5}
            """#)(request)
        default: try await ScriptedTransport.json(Self.document)(request)
        }
      },
      browser: { fixture, page in
        let state = page.parameters["state"] ?? fixture.http.forms.compactMap { $0["state"] }.last
        fixture.oauth.handleRedirect("com.example.app:/cb?code=abc&state=\(state ?? "")")
      })
    let parameters = parameter.map { ["resource": $0] } ?? [:]
    var configuration = try ClientConfiguration(
      clientID: "client", clientSecret: "s", clientKey: try ClientKey(generating: .es256),
      redirectURI: "com.example.app:/cb", provider: .issuer("https://id.example"),
      clientAuthentication: .post, authorizationParameters: parameters,
      tokenParameters: parameters)
    configuration.resources = resources
    change(&configuration)
    fixture.oauth.register(configuration)
    return fixture
  }

  /// Returns the values of `resource` in a form or a query, decoded by Foundation.
  private func resources(in text: String?) -> [String] {
    let query = (text ?? "").replacingOccurrences(of: "+", with: "%20")
    return (URLComponents(string: "?\(query)")?.queryItems ?? []).filter { $0.name == "resource" }
      .compactMap(\.value)
  }

  private func resources(at path: String, _ fixture: OAuthFixture) -> [[String]] {
    fixture.http.requests.filter { $0.url.path() == path }.map { request in
      guard case .bytes(let body) = request.body else { return [] }
      return resources(in: String(decoding: body, as: UTF8.self))
    }
  }

  @Test func `a sign-in and its refresh name the resources`() async throws {
    let fixture = try fixture()
    try await fixture.oauth.signIn()
    #expect(resources(in: fixture.opened.first?.url.query()) == Self.identifiers)
    try await fixture.oauth.refresh()
    #expect(resources(at: "/token", fixture) == [Self.identifiers, Self.identifiers])
  }

  @Test func `a pushed request names the resources`() async throws {
    let fixture = try fixture { $0.pushesAuthorizationRequests = true }
    try await fixture.oauth.signIn()
    #expect(resources(at: "/par", fixture) == [Self.identifiers])
    #expect(resources(in: fixture.opened.first?.url.query()) == [])
    #expect(resources(at: "/token", fixture) == [Self.identifiers])
  }

  @Test func `a request object has several resources as an array, and a single one as a string`()
    async throws
  {
    for (resources, claim) in [
      (Self.identifiers, JSONValue.array(Self.identifiers.map(JSONValue.string))),
      ([Self.identifiers[0]], .string(Self.identifiers[0])),
    ] {
      let fixture = try fixture(resources: resources) { $0.signsAuthorizationRequests = true }
      // The fixture's browser sends no redirect, because it cannot read the state inside the signed
      // request.
      let signIn = Task { try await fixture.oauth.signIn() }
      let page = try await eventually { fixture.opened.first }
      let request = try CompactJWS(try #require(page.parameters["request"]))
      #expect(try request.claims()["resource"] == claim)
      signIn.cancel()
      _ = try? await signIn.value
    }
  }

  @Test func `a sign-in on another device names the resources`() async throws {
    let fixture = try fixture()
    let signIn = begin { try await fixture.oauth.signInWithDeviceCode { _ in } }
    await fixture.clock.hasSleeper()
    fixture.clock.advance(by: 5)
    _ = try await signIn.value
    #expect(resources(at: "/device", fixture) == [Self.identifiers])
    #expect(resources(at: "/token", fixture) == [Self.identifiers])
  }

  @Test func `a client credentials request names the resources`() async throws {
    let fixture = try fixture { $0.usesClientCredentials = true }
    try await fixture.oauth.requestAccessTokenAsClient()
    #expect(resources(at: "/token", fixture) == [Self.identifiers])
  }

  @Test func `the configuration's resources replace the app's own resource parameter`() async throws
  {
    let fixture = try fixture(parameter: "https://other.example")
    try await fixture.oauth.signIn()
    #expect(resources(in: fixture.opened.first?.url.query()) == Self.identifiers)
    #expect(resources(at: "/token", fixture) == [Self.identifiers])
    let plain = try self.fixture(resources: [], parameter: "https://other.example")
    try await plain.oauth.signIn()
    #expect(resources(at: "/token", plain) == [["https://other.example"]])
  }

  @Test(arguments: ["/mcp", "api.example", "https://api.example#x", "", "https://api.example/#"])
  func `a resource that is no absolute URI is rejected before any request`(text: String)
    async throws
  {
    let fixture = try fixture(resources: [Self.identifiers[0], text])
    await failure(.invalidConfiguration) { try await fixture.oauth.signIn() }
    #expect(fixture.http.requests.isEmpty && fixture.opened.isEmpty)
  }
}
