import Foundation
import LoopbackSupport
import OAuthSandbox
import OAuthSandboxGRPC
import SQBasics
import SequencingOAuth
import SequencingOAuthGRPC
import TestSupport
import Testing

/// How the server treats tokens: in the same way as the sandbox's own API.
@Suite(.timeLimit(.minutes(1))) struct TokenTests {
  private static let invalid =
    "Bearer realm=\"sandbox\", error=\"invalid_token\", "
    + "error_description=\"The access token is unknown, expired or revoked.\""

  @Test(arguments: ["none", "unknown", "expired", "revoked", "a refresh token", "past its time"])
  func `an invalid token gets the challenge of the sandbox's API`(
    kind: String
  ) async throws {
    try await Fixture.running { fixture in
      let sandbox = fixture.sandbox
      let tokens = sandbox.issueTokens()
      var token: String? = tokens.accessToken
      switch kind {
      case "none": token = nil
      case "unknown": token = "no-such-token"
      case "expired": sandbox.expireAccessTokens()
      case "revoked": sandbox.revokeEverything()
      case "a refresh token": token = tokens.refreshToken
      default: sandbox.advance(by: .seconds(3600))
      }
      let channel = try fixture.channel(token.map { .accessToken($0) } ?? .none)
      let call = try channel.call(Method.unaryCall, request: everything)
      let error = try await rpcFailure(.unauthenticated) { try await call.response() }
      let url = try #require(URL(string: sandbox.issuer.absoluteString + "/api/me"))
      var request = WebRequest(url: url)
      if let token { request.headers["authorization"] = "Bearer " + token }
      let answer = try await CurlTransport().send(request)
      // Only the API's challenge has `resource_metadata`, because the metadata describes the API
      // and not the gRPC server.
      let challenge = try #require(answer.headers["www-authenticate"])
        .replacing(#/, resource_metadata="[^"]+"/#, with: "")
      #expect(answer.status == 401 && error.oauth2ChallengeHeader == challenge)
      #expect(challenge == (token == nil ? "Bearer realm=\"sandbox\"" : Self.invalid))
      #expect(error.challenge?.error == (token == nil ? nil : .invalidToken))
      #expect(
        error.message
          == (token == nil
            ? "The call has no access token." : "The access token is unknown, expired or revoked."))
    }
  }

  @Test func `a token without the server's scope is rejected with the scope's name`()
    async throws
  {
    try await Fixture.running(scope: "demo") { fixture in
      let narrow = fixture.sandbox.issueTokens(scopes: ["profile"]).accessToken
      for kind in [RPCCall.Kind.unary, .serverStreaming] {
        let call = try fixture.channel(.accessToken(narrow)).call(
          kind == .unary ? Method.unaryCall : Method.stream, kind: kind)
        let error = try await rpcFailure(.permissionDenied) {
          if kind == .unary { _ = try await call.response() }
          if kind == .serverStreaming { for try await _ in call.messages {} }
        }
        #expect(
          error.oauth2ChallengeHeader == """
            Bearer realm="sandbox", error="insufficient_scope", \
            error_description="The access token lacks a required scope.", scope="demo"
            """)
        #expect(error.challenge?.scope == "demo")
      }
      let wide = fixture.sandbox.issueTokens(scopes: ["profile", "demo"]).accessToken
      let call = try fixture.channel(.accessToken(wide)).call(Method.unaryCall, request: everything)
      #expect(try await Answer(call.response()).scope == "profile demo")
    }
  }

  @Test func `an account refreshes a rejected token and calls again`() async throws {
    try await Fixture.running { fixture in
      let sandbox = fixture.sandbox
      let module = AuthorizationModule(
        configuration: try ClientConfiguration(
          clientID: "sandbox-app", redirectURI: "http://127.0.0.1/callback", scope: "demo",
          provider: .issuer(sandbox.issuer.absoluteString)))
      let tokens = sandbox.issueTokens()
      try await module.environment.tokenStore.save(
        AccountRecord(
          id: module.accountID, clientID: "sandbox-app",
          token: SQToken(
            accessToken: tokens.accessToken, expirationDate: Date(timeIntervalSinceNow: 3600),
            refreshToken: tokens.refreshToken)))
      try await module.restore()
      sandbox.expireAccessTokens()
      let channel = try fixture.channel(.account(module))
      let response = try await channel.call(Method.unaryCall, request: everything).response()
      #expect(try Answer(response).user == "alice")
      #expect(sandbox.requests(to: .token).count == 1)
      let sent = fixture.server.calls.map(\.bearerToken)
      #expect(sent.count == 2 && sent[0] == tokens.accessToken && sent[1] != sent[0])
      // Now no token is valid.
      sandbox.revokeEverything()
      let error = try await rpcFailure(.unauthenticated) {
        try await channel.call(Method.unaryCall, request: everything).response()
      }
      #expect(error.oauthError?.code == .invalidGrant)
    }
  }

  @Test(arguments: ["expires", "is revoked"])
  func `a stream ends when its token expires or is revoked, after the messages already sent`(
    how: String
  ) async throws {
    try await Fixture.running { fixture in
      // The messages are so long that the server waits until the client reads them.
      let call = try fixture.authorizedChannel().call(
        Method.stream, request: streamRequest(Array(repeating: (65_536, 0), count: 500)),
        kind: .serverStreaming)
      var count = 0
      let error = try await rpcFailure(.unauthenticated) {
        for try await message in call.messages {
          #expect(try Answer(message).user == "alice")
          count += 1
          guard count == 2 else { continue }
          if how == "expires" {
            fixture.sandbox.advance(by: .seconds(3600))
          } else {
            fixture.sandbox.revokeEverything()
          }
        }
      }
      #expect(error.oauth2ChallengeHeader == Self.invalid)
      #expect((2..<500).contains(count))
    }
  }

  @Test func `a caller without a token is rejected before its message has arrived`() async throws {
    try await Fixture.running { fixture in
      let client = try RawHTTP2Client(port: fixture.port)
      client.begin(1, Method.unaryCall)
      let answer = try await client.wholeAnswer(1)
      #expect(answer["grpc-status"] == "16" && answer.sections == 1 && answer.content.isEmpty)
    }
  }
}
