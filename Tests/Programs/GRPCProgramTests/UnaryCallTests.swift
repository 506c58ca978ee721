import Foundation
import GRPCValueSupport
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthGRPC
import TestSupport
import Testing

@testable import GRPCSupport

/// The call of gRPC's auth sample, with tokens of the sandbox.
@Suite(.timeLimit(.minutes(2)), .requiresGRPCIO) struct UnaryCallTests {
  @Test(arguments: [false, true])
  func `the server gets the user and the scopes from the call's token`(isSecure: Bool) async throws
  {
    try await CallFixture.running(isSecure: isSecure) { fixture in
      let call = try fixture.unaryCall()
      let response = try await call.response(as: TestResponseCodec())
      let scope = "profile demo files offline_access"
      #expect(response == TestResponse(username: "alice", oauthScope: scope))
      #expect(call.status == .ok)
      #expect(fixture.refreshes == 0)
    }
  }

  @Test func `the challenge for a bad token is in the call and in the error`() async throws {
    try await CallFixture.running { fixture in
      let call = try RPCCall(
        host: fixture.server.url, method: method("UnaryCall"), request: Data([32, 1]))
      try call.setOAuth2AccessToken("no-such-token")
      let error = await rpcFailure(.unauthenticated) { try await call.response() }
      #expect(error?.isFromServer == true && error?.message == "bad token [removed]")
      let challenge = try #require(call.oauth2ChallengeHeader)
      #expect(challenge.hasPrefix("Bearer realm=\"sandbox\", error=\"invalid_token\""))
      #expect(error?.oauth2ChallengeHeader == challenge)
      #expect(error?.metadata == call.responseMetadata)
      #expect(call.challenge?.error == .invalidToken && error?.challenge?.realm == "sandbox")
      #expect(call.status == .unauthenticated)
      try await fixture.server.caughtUp()
      #expect(fixture.server.count(of: "UnaryCall") == 1)
    }
  }
}
