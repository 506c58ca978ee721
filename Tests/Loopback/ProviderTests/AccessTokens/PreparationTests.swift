import OAuthSandbox
import SequencingOAuth
import SequencingOAuthBackend
import Testing

@testable import TestSupport

/// What a service fetches at its start, and in its readiness checks.
@Suite(.timeLimit(.minutes(1))) struct PreparationTests {
  @Test func `a prepared validator validates a token without a further request`() async throws {
    let server = try await ResourceServerFixture()
    let validator = try server.validator()
    for _ in 0..<3 { try await validator.prepare() }
    #expect(server.sandbox.requests.compactMap(\.endpoint) == [.metadata, .keys])
    _ = try await validator.validate(server.token())
    #expect(server.sandbox.requests.count == 2)
  }

  @Test(arguments: [SandboxEndpoint.metadata, .keys])
  func `if the server fails, prepare throws and sends its next request only after a second`(
    endpoint: SandboxEndpoint
  ) async throws {
    let server = try await ResourceServerFixture()
    let validator = try server.validator()
    server.sandbox.misbehave(at: endpoint, .status(503), times: .max)
    for _ in 0..<5 { await failure(.temporarilyUnavailable) { try await validator.prepare() } }
    let requests = server.sandbox.requests(to: endpoint).count
    server.clock.advance(by: 1)
    await failure(.temporarilyUnavailable) { try await validator.prepare() }
    #expect(server.sandbox.requests(to: endpoint).count == 2 * requests)
    server.sandbox.behave()
    server.clock.advance(by: 1)
    try await validator.prepare()
  }

  /// A readiness check may have a shorter time limit than the server needs.
  @Test(arguments: [SandboxEndpoint.metadata, .keys])
  func `cancelled calls of prepare share one request, and the next call uses its answer`(
    endpoint: SandboxEndpoint
  ) async throws {
    let server = try await ResourceServerFixture()
    let validator = try server.validator()
    let answer = Gate(isOpen: false)
    server.sandbox.misbehave(at: endpoint, .hold { await answer.opened() })
    for _ in 0..<20 {
      let check = begin { try await validator.prepare() }
      _ = try await server.sandbox.requests(to: endpoint, atLeast: 1)
      check.cancel()
      await failure(.cancelled) { try await check.value }
    }
    answer.open()
    try await validator.prepare()
    #expect(server.sandbox.requests.compactMap(\.endpoint) == [.metadata, .keys])
  }

  @Test func `while the server is down, prepare succeeds until the cached keys are too old`()
    async throws
  {
    let server = try await ResourceServerFixture()
    let validator = try server.validator()
    try await validator.prepare()
    server.clock.advance(by: 4000)
    server.sandbox.misbehave(at: .keys, .status(503), times: .max)
    server.sandbox.misbehave(at: .metadata, .status(503), times: .max)
    try await validator.prepare()
    server.clock.advance(by: 86_400)
    await failure(.temporarilyUnavailable) { try await validator.prepare() }
  }

  @Test func `prepare throws until the key set contains a key for the expected algorithm`()
    async throws
  {
    let server = try await ResourceServerFixture()
    server.sandbox.misbehave(at: .keys, .keySet(.empty), times: 2)
    let validator = try server.validator()
    let error = await failure(.invalidResponse) { try await validator.prepare() }
    #expect(error?.message.contains("RS256") == true)
    server.clock.advance(by: 61)
    try await validator.prepare()
  }

  @Test func `preparing an introspector fetches metadata and requires an introspection endpoint`()
    async throws
  {
    let server = try await ResourceServerFixture(.es256)
    try await server.introspector().prepare()
    #expect(server.sandbox.requests.compactMap(\.endpoint) == [.metadata])
    let signing = try await ResourceServerFixture(.es256)
    try await signing.introspector(signatureAlgorithms: [.es256]).prepare()
    #expect(signing.sandbox.requests.compactMap(\.endpoint) == [.metadata, .keys])
    let other = try await ResourceServerFixture()
    other.sandbox.misbehave(at: .metadata, .member("introspection_endpoint", nil))
    await failure(.introspectionUnsupported) { try await other.introspector().prepare() }
    #expect(other.questions == 0)
  }

  /// Some servers have two metadata documents, and only that of OpenID Connect names their keys.
  @Test(arguments: [true, false])
  func `keys that only the second metadata document names are found`(introspects: Bool) async throws
  {
    let server = try await ResourceServerFixture()
    server.sandbox.misbehave(at: .metadata, .member("jwks_uri", nil))
    let token = server.token()
    if introspects {
      let introspector = try server.introspector(signatureAlgorithms: [.rs256])
      try await introspector.prepare()
      #expect(try await introspector.claims(of: token)?.username == "alice")
    } else {
      let validator = try server.validator()
      try await validator.prepare()
      _ = try await validator.validate(token)
    }
    let endpoints = server.sandbox.requests.compactMap(\.endpoint)
    #expect(endpoints.prefix(3) == [.metadata, .metadata, .keys])
  }

  @Test func `an introspector whose answers need no signature reads one metadata document`()
    async throws
  {
    let server = try await ResourceServerFixture()
    server.sandbox.misbehave(at: .metadata, .member("jwks_uri", nil))
    try await server.introspector().prepare()
    #expect(server.sandbox.requests.compactMap(\.endpoint) == [.metadata])
  }

  @Test func `an introspector with an empty audience throws without sending a request`()
    async throws
  {
    let server = try await ResourceServerFixture()
    let introspector = try server.introspector(audience: "")
    await failure(.invalidConfiguration) { try await introspector.prepare() }
    await failure(.invalidConfiguration) { try await introspector.claims(of: server.token()) }
    #expect(server.sandbox.requests.isEmpty)
  }
}
