import Foundation
import GRPCValueSupport
import LoopbackSupport
import OAuthSandbox
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthGRPC
import TestSupport
import Testing

@testable import GRPCSupport

/// The interoperability test cases of gRPC; each name contains the original name of the case.
///
/// `cacheable_unary` is missing because it sends GET, which gRPC's protocol does not have. The
/// cases that need Google's cloud for their credentials, the soak tests and the cases of load
/// reports (ORCA) are missing too.
///
/// - SeeAlso: gRPC's `doc/interop-test-descriptions.md`
@Suite(.timeLimit(.minutes(5)), .requiresGRPCIO, .requiresGRPCGo) struct InteropTests {
  private static let largeRequest = SimpleRequest(
    responseSize: 314_159, payload: Data(count: 271_828))
  private static let largeResponse = Data(count: 314_159)

  // MARK: One message each way

  @Test(arguments: InteropKind.all)
  func `the interop test empty_unary passes`(kind: InteropKind) async throws {
    try await kind.running { server in
      let call = try server.channel().call(method("EmptyCall"))
      #expect(try await call.response().isEmpty)
    }
  }

  @Test(arguments: InteropKind.all)
  func `the interop test large_unary passes`(kind: InteropKind) async throws {
    try await kind.running { server in
      let response = try await server.channel().unaryCall(Self.largeRequest)
      #expect(response.payload == Self.largeResponse)
    }
  }

  @Test(arguments: InteropKind.all)
  func `the interop test client_compressed_unary passes`(kind: InteropKind) async throws {
    try await kind.running { server in
      let plain = try server.channel()
      let compressing = try server.channel { $0.compression = .gzip }
      var (compressed, uncompressed) = (Self.largeRequest, Self.largeRequest)
      compressed.expectCompressed = true
      uncompressed.expectCompressed = false
      await rpcFailure(.invalidArgument) { try await plain.unaryCall(compressed) }
      #expect(try await compressing.unaryCall(compressed).payload == Self.largeResponse)
      #expect(try await plain.unaryCall(uncompressed).payload == Self.largeResponse)
      await rpcFailure(.invalidArgument) { try await compressing.unaryCall(uncompressed) }
    }
  }

  @Test(arguments: InteropKind.all)
  func `the interop test server_compressed_unary passes`(kind: InteropKind) async throws {
    try await kind.running { server in
      let channel = try server.channel()
      for isCompressed in [true, false] {
        var request = Self.largeRequest
        request.responseCompressed = isCompressed
        #expect(try await channel.unaryCall(request).payload == Self.largeResponse)
        // Makes the same call as a stream of one message, because a stream shows the message's
        // flag.
        let call = try channel.call(.interopUnary, request, kind: .serverStreaming)
        #expect(try await call.compressedFlags() == [isCompressed])
      }
    }
  }

  // MARK: Streams

  @Test(arguments: InteropKind.all)
  func `the interop test client_streaming passes`(kind: InteropKind) async throws {
    try await kind.running { server in
      let call = try server.channel().streamingInputCall()
      for size in [27_182, 8, 1_828, 45_904] {
        try await call.send(InputRequest(payload: Data(count: size)))
      }
      try call.finishSending()
      #expect(try await call.inputSize() == 74_922)
    }
  }

  /// The client compresses only what becomes smaller, so the second payload stays uncompressed.
  @Test(arguments: InteropKind.all)
  func `the interop test client_compressed_streaming passes`(kind: InteropKind) async throws {
    try await kind.running { server in
      let first = InputRequest(payload: Data(count: 27_182), expectCompressed: true)
      let second = InputRequest(payload: .noise(45_904), expectCompressed: false)
      let probe = try server.channel().streamingInputCall()
      try await probe.send(first)
      try probe.finishSending()
      await rpcFailure(.invalidArgument) { try await probe.response() }
      let call = try server.channel { $0.compression = .gzip }.streamingInputCall()
      try await call.send(first)
      try await call.send(second)
      try call.finishSending()
      #expect(try await call.inputSize() == 73_086)
    }
  }

  @Test(arguments: InteropKind.all)
  func `the interop test server_streaming passes`(kind: InteropKind) async throws {
    try await kind.running { server in
      let sizes = [31_415, 9, 2_653, 58_979]
      let call = try server.channel().streamingOutputCall(
        OutputRequest(responses: sizes.map { ResponseParameters(size: $0) }))
      #expect(try await call.outputSizes() == sizes)
      #expect(call.status == .ok)
    }
  }

  @Test(arguments: InteropKind.all)
  func `the interop test server_compressed_streaming passes`(kind: InteropKind) async throws {
    try await kind.running { server in
      let request = OutputRequest(responses: [
        ResponseParameters(size: 31_415, compressed: true),
        ResponseParameters(size: 92_653, compressed: false),
      ])
      let channel = try server.channel()
      #expect(try await channel.streamingOutputCall(request).outputSizes() == [31_415, 92_653])
      let call = try channel.streamingOutputCall(request)
      #expect(try await call.compressedFlags() == [true, false])
    }
  }

  @Test(arguments: InteropKind.all)
  func `the interop test ping_pong passes`(kind: InteropKind) async throws {
    try await kind.running { server in
      let call = try server.channel().fullDuplexCall()
      var outputs = call.outputs.makeAsyncIterator()
      for (size, answer) in [(27_182, 31_415), (8, 9), (1_828, 2_653), (45_904, 58_979)] {
        try await call.send(
          OutputRequest(responses: [ResponseParameters(size: answer)], payload: Data(count: size)))
        #expect(try await outputs.next()?.payload == Data(count: answer))
      }
      try call.finishSending()
      #expect(try await outputs.next() == nil)
      #expect(call.status == .ok)
    }
  }

  @Test(arguments: InteropKind.all)
  func `the interop test empty_stream passes`(kind: InteropKind) async throws {
    try await kind.running { server in
      let call = try server.channel().fullDuplexCall()
      try call.finishSending()
      #expect(try await call.outputSizes() == [])
      #expect(call.status == .ok)
    }
  }

  // MARK: Metadata and status

  @Test(arguments: InteropKind.all)
  func `the interop test custom_metadata passes`(kind: InteropKind) async throws {
    let (initial, trailing) = ("x-grpc-test-echo-initial", "x-grpc-test-echo-trailing-bin")
    let bytes = Data([0xAB, 0xAB, 0xAB])
    var metadata = try RPCMetadata([initial: "test_initial_metadata_value"])
    try metadata.set(bytes, for: trailing)
    try await kind.running { server in
      let channel = try server.channel()
      let unary = try channel.call(.interopUnary, Self.largeRequest)
      try unary.setRequestMetadata(metadata)
      _ = try await unary.response()
      let stream = try channel.fullDuplexCall()
      try stream.setRequestMetadata(metadata)
      try await stream.send(
        OutputRequest(
          responses: [ResponseParameters(size: 314_159)], payload: Data(count: 271_828)))
      try stream.finishSending()
      #expect(try await stream.outputSizes() == [314_159])
      for call in [unary, stream] {
        #expect(call.responseHeaders?.values(for: initial) == ["test_initial_metadata_value"])
        #expect(call.responseTrailers?.bytes(for: trailing) == [bytes])
        #expect(call.status == .ok)
      }
    }
  }

  @Test(arguments: InteropKind.all)
  func `the interop test status_code_and_message passes`(kind: InteropKind) async throws {
    try await kind.running { server in
      let channel = try server.channel()
      let status = EchoStatus(code: 2, message: "test status message")
      let stream = try channel.fullDuplexCall()
      try await stream.send(OutputRequest(responseStatus: status))
      try stream.finishSending()
      for error in [
        await rpcFailure(.unknown) {
          try await channel.unaryCall(SimpleRequest(responseStatus: status))
        },
        await rpcFailure(.unknown) { try await stream.outputSizes() },
      ] {
        #expect(error?.message == "test status message" && error?.isFromServer == true)
      }
    }
  }

  @Test(arguments: InteropKind.all)
  func `the interop test special_status_message passes`(kind: InteropKind) async throws {
    try await kind.running { server in
      let message = "\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n"
      let status = EchoStatus(code: 2, message: message)
      let error = await rpcFailure(.unknown) {
        try await server.channel().unaryCall(SimpleRequest(responseStatus: status))
      }
      #expect(error?.message == message && error?.isFromServer == true)
    }
  }

  @Test(arguments: InteropKind.all)
  func `the interop test unimplemented_method passes`(kind: InteropKind) async throws {
    try await kind.running { server in
      let call = try server.channel().call(method("UnimplementedCall"))
      let error = await rpcFailure(.unimplemented) { try await call.response() }
      #expect(error?.isFromServer == true)
    }
  }

  @Test(arguments: InteropKind.all)
  func `the interop test unimplemented_service passes`(kind: InteropKind) async throws {
    try await kind.running { server in
      let call = try server.channel().call("/grpc.testing.UnimplementedService/UnimplementedCall")
      let error = await rpcFailure(.unimplemented) { try await call.response() }
      #expect(error?.isFromServer == true)
    }
  }

  // MARK: Early ends

  @Test(arguments: InteropKind.all)
  func `the interop test cancel_after_begin passes`(kind: InteropKind) async throws {
    try await kind.running { server in
      let channel = try server.channel()
      // Cancels one call that the server has begun, and one call right after its start.
      let begun = try channel.streamingInputCall()
      try begun.start()
      try await server.process.line(after: "CALL " + begun.method)
      begun.cancel()
      try await server.process.line(after: "ENDED " + begun.method)
      let started = try channel.streamingInputCall()
      try started.start()
      started.cancel()
      for call in [begun, started] {
        await rpcFailure(.cancelled) { try await call.response() }
        #expect(call.status == .cancelled)
      }
    }
  }

  @Test(arguments: InteropKind.all)
  func `the interop test cancel_after_first_response passes`(kind: InteropKind) async throws {
    try await kind.running { server in
      let call = try server.channel().fullDuplexCall()
      var outputs = call.outputs.makeAsyncIterator()
      try await call.send(
        OutputRequest(responses: [ResponseParameters(size: 31_415)], payload: Data(count: 27_182)))
      #expect(try await outputs.next()?.payload.count == 31_415)
      call.cancel()
      await rpcFailure(.cancelled) { try await outputs.next() }
      #expect(call.status == .cancelled)
      try await server.process.line(after: "ENDED " + call.method)
    }
  }

  @Test(arguments: InteropKind.all)
  func `the interop test timeout_on_sleeping_server passes`(kind: InteropKind) async throws {
    try await kind.running { server in
      let call = try server.channel().fullDuplexCall()
      try call.setTimeout(.milliseconds(1))
      // The time limit may expire before the message is sent.
      try? await call.send(OutputRequest(payload: Data(count: 27_182)))
      await rpcFailure(.deadlineExceeded) { try await call.outputSizes() }
      #expect(call.status == .deadlineExceeded)
    }
  }

  // MARK: Credentials

  @Test(arguments: InteropKind.all)
  func `the interop test oauth2_auth_token passes`(kind: InteropKind) async throws {
    try await Self.withToken { userInfo, token, scope in
      try await kind.running(userInfo: userInfo) { server in
        let channel = try server.channel(credential: .accessToken(token))
        let response = try await channel.unaryCall(
          SimpleRequest(fillUsername: true, fillOAuthScope: true))
        #expect(response.username == "alice" && response.oauthScope == scope)
      }
    }
  }

  @Test(arguments: InteropKind.all)
  func `the interop test per_rpc_creds passes`(kind: InteropKind) async throws {
    try await Self.withToken { userInfo, token, _ in
      try await kind.running(userInfo: userInfo) { server in
        let channel = try server.channel()
        let call = try channel.call(.interopUnary, SimpleRequest(fillUsername: true))
        try call.setOAuth2AccessToken(token)
        let response = try await call.response(as: InteropResponseCodec<SimpleResponse>())
        #expect(response.username == "alice" && response.oauthScope.isEmpty)
        // The token belongs only to the first call, so the server rejects a call without a token.
        await rpcFailure(.unauthenticated) {
          try await channel.unaryCall(SimpleRequest(fillUsername: true))
        }
      }
    }
  }

  /// Runs `body` with the URL where a server looks up a token's user, with a client's token, and
  /// with the token's scope.
  private static func withToken(
    _ body: (URL, String, String) async throws -> Void
  ) async throws {
    let sandbox = try await SandboxServer.start()
    try await stopping({ await sandbox.stop() }) {
      var environment = ClientEnvironment()
      environment.transport = CurlTransport(configuration: .direct)
      let configuration = try ClientConfiguration(
        clientID: "sandbox-app", redirectURI: "http://127.0.0.1/callback", scope: "demo",
        provider: .issuer(sandbox.issuer.absoluteString))
      let module = AuthorizationModule(configuration: configuration, environment: environment)
      let tokens = sandbox.issueTokens()
      try await environment.tokenStore.save(
        AccountRecord(
          id: module.accountID, clientID: "sandbox-app",
          // The token has expired, so the client must first get the token that the calls carry.
          token: SQToken(
            accessToken: tokens.accessToken, expirationDate: Date(timeIntervalSinceNow: -1),
            refreshToken: tokens.refreshToken)))
      try await module.restore()
      let token = try await module.token()
      #expect(token.accessToken != tokens.accessToken)
      try await body(
        sandbox.issuer.appending(path: "api/me"), token.accessToken,
        "profile demo files offline_access")
    }
  }
}
