import Foundation
import OAuthSandbox
import OAuthSandboxGRPC
import SQBasics
import SequencingOAuth
import SequencingOAuthGRPC
import TestSupport
import Testing

/// How the server starts and stops, and what it records.
@Suite(.timeLimit(.minutes(1))) struct ServerTests {
  @Test func `failed calls are recorded, and their descriptions do not show the token`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let server = try SandboxGRPCServer(of: sandbox)
    let fixture = Fixture(sandbox: sandbox, server: server)
    sandbox.advance(by: .seconds(-1_000_000))
    let call = try fixture.channel(.accessToken("c4n4ry")).call(Method.unaryCall)
    var metadata = RPCMetadata()
    try metadata.set("yes", for: "X-Test")
    try call.setRequestMetadata(metadata)
    try await rpcFailure(.unauthenticated) { try await call.response() }
    try await rpcFailure(.unimplemented) { try await fixture.channel().call("/a/B").response() }
    #expect(server.calls.map(\.method) == [Method.unaryCall, "/a/B"])
    let first = try #require(server.calls.first)
    #expect(first.bearerToken == "c4n4ry" && first.metadata("x-TEST") == "yes")
    #expect(first.metadata("content-type") == "application/grpc")
    #expect(abs(first.date.timeIntervalSince(sandbox.now)) < 60)
    #expect(server.calls.last?.bearerToken == nil)
    var text = "\(first) \(server)"
    dump(server.calls, to: &text)
    #expect(text.hasPrefix("\(Method.unaryCall) gRPC server at \(server.url.absoluteString)"))
    #expect(!text.contains("c4n4ry"))
    server.forgetCalls()
    #expect(server.calls.isEmpty)
    await server.stop()
    await sandbox.stop()
  }

  @Test func `a port in use is an error, and a released server frees its port`() async throws {
    let sandbox = try await SandboxServer.start()
    var server: SandboxGRPCServer? = try SandboxGRPCServer(of: sandbox)
    let port = UInt16(try #require(server?.url.port))
    #expect(throws: SandboxError.portInUse(port)) {
      try SandboxGRPCServer(of: sandbox, port: port)
    }
    server = nil
    // Another test's server may have taken the port for a while.
    let next = try await eventually("the port is free") {
      try? SandboxGRPCServer(of: sandbox, port: port)
    }
    #expect(next.url.absoluteString == "http://127.0.0.1:\(port)")
    await next.stop()
    #expect(server == nil)
    await sandbox.stop()
  }

  @Test
  func `calls finish in the grace period of a stop, and calls that outlast it get UNAVAILABLE`()
    async throws
  {
    try await Fixture.running { fixture in
      let channel = try fixture.authorizedChannel()
      let short = try channel.call(
        Method.stream, request: streamRequest([(0, 0), (0, 50_000)]), kind: .serverStreaming)
      var messages = short.messages.makeAsyncIterator()
      _ = try await messages.next()
      await fixture.server.stop(grace: .seconds(50))
      #expect(try await messages.next() != nil)
      #expect(try await messages.next() == nil)
      // Another test's server may have taken the port.
      _ = try? await channel.call(Method.unaryCall, request: everything).response()
      #expect(fixture.server.calls.count == 1)
    }
    try await Fixture.running { fixture in
      let long = try fixture.authorizedChannel().call(
        Method.stream, request: streamRequest([(0, 0), (0, 2_000_000_000)]), kind: .serverStreaming)
      var messages = long.messages.makeAsyncIterator()
      _ = try await messages.next()
      await fixture.server.stop()
      try await rpcFailure(.unavailable) { try await messages.next() }
    }
  }

  @Test func `several servers can share one sandbox`() async throws {
    try await Fixture.running { fixture in
      let other = try SandboxGRPCServer(of: fixture.sandbox, scope: "admin")
      let token = fixture.sandbox.issueTokens().accessToken
      let second = Fixture(sandbox: fixture.sandbox, server: other)
      _ = try await fixture.channel(.accessToken(token)).call(Method.unaryCall).response()
      try await rpcFailure(.permissionDenied) {
        try await second.channel(.accessToken(token)).call(Method.unaryCall).response()
      }
      await other.stop()
      #expect(fixture.server.calls.count == 1)
    }
  }
}
