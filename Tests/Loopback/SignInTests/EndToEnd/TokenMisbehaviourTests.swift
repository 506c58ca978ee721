import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// Malformed or wrong token responses, which the SDK must reject.
@Suite("End to end: wrong token responses", .timeLimit(.minutes(1)))
struct TokenMisbehaviourTests {
  /// Checks that one token request fails, that nothing is kept, and that a later sign-in works.
  func expect(
    _ misbehaviour: SandboxMisbehaviour, ends codes: Set<SQOAuthError.Code>,
    outlasted isOutlasted: Bool = false, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let fixture = try await SandboxFixture().register(byHand: true)
    fixture.sandbox.misbehave(at: .token, misbehaviour)
    let outlasting = isOutlasted ? fixture.outlastRequests(to: .token) : nil
    let error = try #require(await fixture.fail(sourceLocation: sourceLocation))
    outlasting?.cancel()
    await outlasting?.value
    #expect(codes.contains(error.code), "\(error)", sourceLocation: sourceLocation)
    #expect(
      await fixture.delegate.events(1) == [.failed(error.code)], sourceLocation: sourceLocation)
    #expect(fixture.tokenRequests.count == 1, "the code was resent", sourceLocation: sourceLocation)
    #expect(fixture.endpoints.last == .token, "a request followed", sourceLocation: sourceLocation)
    #expect(fixture.oauth.result.token == nil, sourceLocation: sourceLocation)
    for secret in ["code", "code_verifier"].compactMap({ fixture.tokenRequests.first?.form($0) }) {
      #expect(!everyText(of: error).contains(secret), sourceLocation: sourceLocation)
    }
    _ = try await fixture.oauth.signIn()
    #expect(fixture.tokenRequests.count == 2, sourceLocation: sourceLocation)
  }

  @Test(arguments: [301, 302, 303, 307, 308])
  func `a redirect is not followed, neither to the same origin nor to another`(status: Int)
    async throws
  {
    let other = try await SandboxFixture()
    try await expect(
      .redirect(status, to: other.sandbox.tokenEndpoint.absoluteString), ends: [.redirectRefused])
    try await expect(.redirect(status, to: "/token"), ends: [.redirectRefused])
    try await expect(.redirect(status, to: ""), ends: [.redirectRefused])
    #expect(other.sandbox.requests.isEmpty, "the other server got a request")
  }

  @Test(
    arguments: [
      "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client",
      "unsupported_grant_type", "invalid_scope", "own_code",
    ], [200, 400, 401, 500])
  func `an OAuth error response is reported whatever its HTTP status is`(code: String, status: Int)
    async throws
  {
    try await expect(.error(code, status: status), ends: [.init(rawValue: code)])
  }

  @Test func `a response that is not JSON is rejected`() async throws {
    try await expect(.html, ends: [.invalidResponse])
    try await expect(.notJSON, ends: [.invalidResponse])
    try await expect(.truncatedJSON, ends: [.invalidResponse])
    try await expect(.status(200), ends: [.invalidResponse])
    try await expect(.status(204), ends: [.invalidResponse])
    try await expect(
      .status(200, headers: ["Content-Type": "text/html"], body: #"{"access_token":"x"}"#),
      ends: [.invalidResponse])
  }

  @Test func `a failing server and a rejected request have different errors`() async throws {
    try await expect(.status(500, body: "<h1>oops"), ends: [.serverError])
    try await expect(.status(502), ends: [.serverError])
    try await expect(.status(503), ends: [.temporarilyUnavailable])
    try await expect(.tooManyRequests(retryAfter: 7), ends: [.temporarilyUnavailable])
    try await expect(.status(400), ends: [.requestRefused])
    try await expect(.status(404), ends: [.invalidResponse])
    try await expect(
      .status(401, headers: ["WWW-Authenticate": "Basic realm=\"x\""]), ends: [.requestRefused])
  }

  @Test(arguments: [true, false])
  func `a broken connection is an error, and the code is not sent again`(
    reset: Bool
  ) async throws {
    for cut in [SandboxMisbehaviour.Cut.beforeProcessing, .afterProcessing, .duringAnswer] {
      try await expect(.cut(cut, reset: reset), ends: [.connectionFailed, .invalidResponse])
    }
  }

  @Test func `a token response of up to 1 MiB is accepted, and a larger one is rejected`()
    async throws
  {
    try await expect(.oversize((1 << 20) + 1), ends: [.responseTooLarge])
    try await expect(.endless, ends: [.responseTooLarge])
    let fixture = try await SandboxFixture().register()
    fixture.sandbox.misbehave(at: .token, .oversize(1 << 20))
    _ = try await fixture.oauth.signIn()
  }

  @Test func `a token request to a slow server times out`() async throws {
    try await expect(
      .delay(.seconds(50)), ends: [.requestTimedOut], outlasted: true)
    try await expect(
      .drip(every: .milliseconds(200)), ends: [.requestTimedOut], outlasted: true)
  }

  @Test func `a response with a missing or malformed member is rejected`() async throws {
    try await expect(.missingTokenType, ends: [.invalidResponse])
    for type: SandboxJSON in ["DPoP", "", .null, 1] {
      try await expect(.member("token_type", type), ends: [.invalidResponse])
    }
    for token: SandboxJSON? in [nil, "", .null, 1, "a b", "a\r\nX: y", ["a"]] {
      try await expect(.member("access_token", token), ends: [.invalidResponse])
    }
    // No `Double` can hold 1e999.
    for seconds: SandboxJSON in [-1, "NaN", "x", true, "-1", [1], .literal("1e999")] {
      try await expect(.expiresIn(seconds), ends: [.invalidResponse])
    }
  }

  @Test func `unusual but valid responses are accepted`() async throws {
    let fixture = try await SandboxFixture().register()
    let rows: [(SandboxMisbehaviour, (SQToken) -> Bool)] = [
      (.expiresIn("3600"), { $0.expirationDate == fixture.clock.now + 3600 }),
      (.expiresIn(nil), { $0.expirationDate == nil }),
      (.expiresIn(9_999_999_999), { $0.expirationDate == fixture.clock.now + 2_147_483_647 }),
      (.noRefreshToken, { $0.refreshToken == nil }),
      (.emptyRefreshToken, { $0.refreshToken == nil }),
      (.member("scope", nil), { $0.scope == "demo" }),
      (.member("scope", "demo profile"), { $0.scope == "demo profile" }),
      (.member("example", [1]), { $0.additionalFields["example"] == .array([.integer(1)]) }),
      (.member("token_type", "bEARER"), { $0.tokenType == "bEARER" }),
    ]
    for (misbehaviour, holds) in rows {
      fixture.sandbox.misbehave(at: .token, misbehaviour)
      let token = try await fixture.oauth.signIn()
      #expect(holds(token), "\(misbehaviour)")
    }
  }

  @Test func `a sign-in fails if the server becomes unreachable before the token request`()
    async throws
  {
    // No other server can get the reserved port after the sandbox has stopped.
    let socket = try BoundSocket()
    var options = SandboxOptions()
    options.port = socket.port
    let fixture = try await SandboxFixture(options).register(byHand: true)
    let sandbox = fixture.sandbox
    fixture.oauth.environment.userAgent = CustomUserAgent { url in
      let page = try AuthorizationURL(url)
      await sandbox.stop()
      _ = try await RawClient.get(
        try page.redirect("code=abc&iss=\(sandbox.issuer.absoluteString)"))
    }
    await failure(.connectionFailed) { try await fixture.oauth.signIn() }
    #expect(await fixture.delegate.events(1) == [.failed(.connectionFailed)])
    withExtendedLifetime(socket) {}
  }
}
