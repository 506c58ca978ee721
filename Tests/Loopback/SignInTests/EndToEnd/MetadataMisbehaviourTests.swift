import Foundation
import OAuthSandbox
import SequencingOAuth
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// Wrong discovery documents.
///
/// The sign-in then opens no page.
@Suite("End to end: wrong metadata", .timeLimit(.minutes(1))) struct MetadataMisbehaviourTests {
  func expect(
    _ misbehaviour: SandboxMisbehaviour, ends codes: Set<SQOAuthError.Code>,
    outlasted isOutlasted: Bool = false, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let fixture = try await SandboxFixture().register()
    fixture.sandbox.misbehave(at: .metadata, misbehaviour, times: nil)
    let outlasting = isOutlasted ? fixture.outlastRequests(to: .metadata) : nil
    let error = try #require(
      await failure(sourceLocation: sourceLocation) {
        try await fixture.oauth.signIn()
      })
    outlasting?.cancel()
    await outlasting?.value
    #expect(codes.contains(error.code), "\(error)", sourceLocation: sourceLocation)
    #expect(fixture.visited.isEmpty, "a browser was opened", sourceLocation: sourceLocation)
    #expect(
      fixture.endpoints.allSatisfy { $0 == .metadata }, "another endpoint was asked",
      sourceLocation: sourceLocation)
    #expect(
      await fixture.delegate.events(1) == [.failed(error.code)], sourceLocation: sourceLocation)
    fixture.sandbox.behave()
    _ = try await fixture.oauth.signIn()
  }

  @Test(arguments: [301, 302, 303, 307, 308])
  func `a redirect of the metadata is not followed`(status: Int) async throws {
    let other = try await SandboxFixture()
    try await expect(
      .redirect(status, to: other.sandbox.url(.metadata).absoluteString), ends: [.redirectRefused])
    #expect(other.sandbox.requests.isEmpty)
  }

  @Test func `metadata with a wrong or missing issuer is rejected`() async throws {
    for issuer: SandboxJSON? in ["http://127.0.0.1:1", "", nil, .null] {
      try await expect(.member("issuer", issuer), ends: [.issuerMismatch, .invalidResponse])
    }
  }

  @Test(arguments: ["authorization_endpoint", "token_endpoint"])
  func `a missing, malformed or insecure endpoint is rejected`(name: String) async throws {
    for value: SandboxJSON? in [nil, "", 1, "http://server.example/x", "/token", "javascript:x"] {
      try await expect(
        .member(name, value), ends: [.invalidResponse, .insecureEndpoint, .invalidConfiguration])
    }
  }

  @Test func `metadata that is not JSON, too large or too late is rejected`() async throws {
    try await expect(.html, ends: [.invalidResponse])
    try await expect(.notJSON, ends: [.invalidResponse])
    try await expect(.truncatedJSON, ends: [.invalidResponse])
    try await expect(.endless, ends: [.responseTooLarge])
    try await expect(.oversize((1 << 20) + 1), ends: [.responseTooLarge])
    try await expect(.delay(.seconds(50)), ends: [.requestTimedOut], outlasted: true)
  }

  @Test func `a server whose metadata lists only the PKCE method plain is rejected`() async throws {
    try await expect(
      .member("code_challenge_methods_supported", ["plain"]), ends: [.pkceUnsupported])
  }

  /// A daemon that runs for months must notice that an endpoint has moved.
  @Test func `a moved token endpoint is found after an hour without a restart`() async throws {
    let sandbox = try await SandboxServer.start()
    let clock = ManualClock(now: Date())
    var environment = ClientEnvironment()
    environment.clock = clock
    var client = try ClientConfiguration(
      clientID: SandboxClient.service.id, clientSecret: SandboxClient.service.secret,
      provider: .issuer(sandbox.issuer.absoluteString))
    client.usesClientCredentials = true
    let account = AuthorizationModule(configuration: client, environment: environment)
    let places = {
      sandbox.requests(to: .token).map { $0.header("host")?.hasPrefix("localhost") }
    }
    _ = try await account.requestAccessTokenAsClient()
    let place = sandbox.url(.token).absoluteString.replacing("127.0.0.1", with: "localhost")
    sandbox.misbehave(at: .metadata, .member("token_endpoint", .string(place)), times: nil)
    _ = try await account.refresh()
    #expect(places() == [false, false])
    clock.advance(by: 3600)
    _ = try await account.refresh()
    #expect(places() == [false, false, true])
    // While the document cannot be fetched, the known endpoint is used.
    sandbox.misbehave(at: .metadata, .status(503), times: nil)
    clock.advance(by: 3600)
    _ = try await account.refresh()
    #expect(places() == [false, false, true, true])
  }
}
