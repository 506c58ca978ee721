import Foundation
import GRPCValueSupport
import ProgramSupport
import SequencingOAuth
import TestSupport
import Testing

@testable import GRPCSupport
@testable import SequencingOAuthGRPC

/// Connections and limits with servers of grpc-go.
@Suite(.timeLimit(.minutes(5)), .requiresGRPCGo) struct GRPCGoTests {
  private typealias Outputs = RPCMessages<InteropResponseCodec<OutputResponse>>.AsyncIterator

  private static let small = SimpleRequest(responseSize: 10)

  /// Sends a message on a stream and reads its answer.
  private static func pingPong(_ call: RPCCall, _ outputs: inout Outputs) async throws {
    try await call.send(OutputRequest(responses: [ResponseParameters(size: 5)]))
    #expect(try await outputs.next()?.payload.count == 5)
  }

  /// Starts the next server and waits until the process has printed a second ready line.
  private static func restart(_ server: InteropServer) async throws {
    server.process.restart()
    try await eventually("the next server is there") {
      server.process.lines.count { $0.hasPrefix("PORT=") } == 2
    }
  }

  @Test func `many calls share a connection that allows few at a time`() async throws {
    try await InteropKind.grpcGo.running(options: ["--streams", "5"]) { server in
      let channel = try server.channel()
      // After these streams, the client knows that the server allows five streams at a time.
      let streams = try (0..<5).map { _ in try channel.fullDuplexCall() }
      for stream in streams {
        var outputs = stream.outputs.makeAsyncIterator()
        try await Self.pingPong(stream, &outputs)
        try stream.finishSending()
        #expect(try await outputs.next() == nil)
      }
      // These streams use all the capacity, so the calls wait.
      let held = try (0..<5).map { _ in try channel.fullDuplexCall() }
      for stream in held { try await stream.send(OutputRequest()) }
      let calls = try (0..<64).map {
        try channel.call(.interopUnary, SimpleRequest(responseSize: $0))
      }
      for call in calls { try call.start() }
      for stream in held { try stream.finishSending() }
      for stream in held { #expect(try await stream.outputSizes() == []) }
      for (size, call) in calls.enumerated() {
        let response = try await call.response(as: InteropResponseCodec<SimpleResponse>())
        #expect(response.payload.count == size)
      }
      try await server.process.caughtUp()
      #expect(server.connections == 1 && server.process.count(of: "UnaryCall") == 64)
    }
  }

  @Test func `calls succeed even if they exceed a stream limit that the client does not know yet`()
    async throws
  {
    try await InteropKind.grpcGo.running(options: ["--streams", "3"]) { server in
      let channel = try server.channel()
      try await withThrowingTaskGroup(of: Bool.self) { group in
        for size in 0..<64 {
          group.addTask {
            try await channel.unaryCall(SimpleRequest(responseSize: size)).payload.count == size
          }
        }
        for try await isRight in group { #expect(isRight) }
      }
      try await server.process.caughtUp()
      #expect(server.connections == 1)
    }
  }

  @Test func `a graceful stop finishes open calls, and new calls go to the next server`()
    async throws
  {
    try await InteropKind.grpcGo.running { server in
      let channel = try server.channel()
      let stream = try channel.fullDuplexCall()
      var outputs = stream.outputs.makeAsyncIterator()
      try await Self.pingPong(stream, &outputs)
      let upload = try channel.streamingInputCall()
      try await upload.send(InputRequest(payload: Data(count: 100_000)))
      try await server.process.line(after: "CALL " + upload.method)
      server.process.drain()
      try await server.process.line(after: "CLOSED")
      try await Self.restart(server)
      try await eventually("a call goes to the next server") {
        _ = try await channel.unaryCall(Self.small)
        return server.connections == 2
      }
      for _ in 0..<3 { try await Self.pingPong(stream, &outputs) }
      try stream.finishSending()
      #expect(try await outputs.next() == nil)
      #expect(!server.process.lines.contains("STOPPED"))
      try await upload.send(InputRequest(payload: Data(count: 100_000)))
      try upload.finishSending()
      #expect(try await upload.inputSize() == 200_000)
      try await server.process.line(after: "STOPPED")
      _ = try await channel.unaryCall(Self.small)
      try await server.process.caughtUp()
      #expect(server.connections == 2)
    }
  }

  @Test func `calls to a stopped server fail with UNAVAILABLE until the next server starts`()
    async throws
  {
    try await InteropKind.grpcGo.running { server in
      let channel = try server.channel()
      _ = try await channel.unaryCall(Self.small)
      server.process.drain()
      try await server.process.line(after: "STOPPED")
      await rpcFailure(.unavailable) { try await channel.unaryCall(Self.small) }
      try await Self.restart(server)
      #expect(try await channel.unaryCall(Self.small).payload.count == 10)
    }
  }

  @Test func `no call fails when the server limits the age of its connections`() async throws {
    try await InteropKind.grpcGo.running(options: ["--age", "100"]) { server in
      let channel = try server.channel()
      let stream = try channel.fullDuplexCall()
      var outputs = stream.outputs.makeAsyncIterator()
      try await Self.pingPong(stream, &outputs)
      while server.connections < 6 {
        try await withThrowingTaskGroup(of: Int.self) { group in
          for _ in 0..<16 {
            group.addTask { try await channel.unaryCall(Self.small).payload.count }
          }
          for try await size in group { #expect(size == 10) }
        }
      }
      // The first connection still works, because it ends only with its last call.
      try await Self.pingPong(stream, &outputs)
      try stream.finishSending()
      #expect(try await outputs.next() == nil)
    }
  }

  @Test func `a stream that outlasts its connection's grace period fails with UNAVAILABLE`()
    async throws
  {
    try await InteropKind.grpcGo.running(options: ["--age", "100", "--grace", "100"]) { server in
      let channel = try server.channel()
      let error = await rpcFailure(.unavailable) {
        try await channel.fullDuplexCall().outputSizes()
      }
      #expect(error?.isFromServer == false)
      #expect(error?.message.contains("the server had announced: NO_ERROR") == true)
    }
  }

  // MARK: Pings

  /// How long the server is silent before a ``pingingChannel(_:)`` sends its first ping.
  private static let silence = Duration.milliseconds(20)

  private static func pingingChannel(_ server: InteropServer) throws -> RPCChannel {
    try server.channel {
      $0.keepAlive = silence
      $0.shortestKeepAlive = silence
    }
  }

  @Test func `keepalive pings are sent repeatedly on a silent stream`() async throws {
    try await InteropKind.grpcGo.running(options: ["--pings", "1"]) { server in
      let channel = try Self.pingingChannel(server)
      let stream = try channel.fullDuplexCall()
      var outputs = stream.outputs.makeAsyncIterator()
      try await Self.pingPong(stream, &outputs)
      try await server.process.line(after: "PING 1 5")
      try await Self.pingPong(stream, &outputs)
      try stream.finishSending()
      #expect(try await outputs.next() == nil)
    }
  }

  @Test func `after each too_many_pings error, the client doubles its ping interval`() async throws
  {
    // This server allows one ping an hour, so each ping of a connection except the first is too
    // early.
    try await InteropKind.grpcGo.running(options: ["--pings", "3600000"]) { server in
      let channel = try Self.pingingChannel(server)
      var interval = Self.silence
      for number in 1...4 {
        let start = ContinuousClock.now
        let stream = try channel.fullDuplexCall()
        var outputs = stream.outputs.makeAsyncIterator()
        // The stream asks for an answer, because without one the client would delay the next
        // connection. The answer may come too late, so a failure is ignored.
        try? await Self.pingPong(stream, &outputs)
        let error = await rpcFailure(.unavailable) { try await outputs.next() }
        #expect(error?.message.contains("ENHANCE_YOUR_CALM (too_many_pings)") == true)
        // The fourth ping ends the connection, and the client waits one interval before each ping.
        try await server.process.line(after: "PING \(number) 4")
        #expect(ContinuousClock.now - start >= interval * 4)
        interval *= 2
      }
    }
  }

  @Test func `a server that rejects frequent pings gets fewer until it accepts them`() async throws
  {
    try await InteropKind.grpcGo.running(options: ["--pings", "100"]) { server in
      let channel = try Self.pingingChannel(server)
      // On a busy machine, even the first connection's pings may be far enough apart.
      var refusals = 0
      while true {
        let stream = try channel.fullDuplexCall()
        var outputs = stream.outputs.makeAsyncIterator()
        try? await Self.pingPong(stream, &outputs)
        let hasLasted = try await eventually("the stream ends, or sees more pings") { () -> Bool? in
          if server.process.lines.contains("PING \(refusals + 1) 6") { return true }
          return stream.status == nil ? nil : false
        }
        if hasLasted { break }
        let error = await rpcFailure(.unavailable) { try await outputs.next() }
        #expect(error?.message.contains("ENHANCE_YOUR_CALM (too_many_pings)") == true)
        refusals += 1
        try #require(refusals < 9)
      }
    }
  }

  // MARK: Limits

  @Test func `a message over the server's limit is rejected in both directions`() async throws {
    try await InteropKind.grpcGo.running(options: ["--limit", "100000"]) { server in
      let channel = try server.channel()
      // A message has a few bytes more than its payload.
      let fitting = SimpleRequest(responseSize: 99_000, payload: Data(count: 99_000))
      #expect(try await channel.unaryCall(fitting).payload.count == 99_000)
      for request in [
        SimpleRequest(payload: Data(count: 3_000_000)), SimpleRequest(responseSize: 100_000),
      ] {
        let error = await rpcFailure(.resourceExhausted) { try await channel.unaryCall(request) }
        #expect(error?.isFromServer == true && error?.message.contains("larger than max") == true)
      }
      let upload = try channel.streamingInputCall()
      try await upload.send(InputRequest(payload: Data(count: 99_000)))
      // The server may have rejected the message before all of it was sent.
      try? await upload.send(InputRequest(payload: Data(count: 3_000_000)))
      let error = await rpcFailure(.resourceExhausted) { try await upload.response() }
      #expect(error?.isFromServer == true)
      #expect(try await channel.unaryCall(fitting).payload.count == 99_000)
      try await server.process.caughtUp()
      #expect(server.connections == 1)
    }
  }

  @Test func `a message over the client's limit is rejected in both directions`() async throws {
    try await InteropKind.grpcGo.running { server in
      let channel = try server.channel {
        $0.maximumRequestBytes = 100_000
        $0.maximumResponseBytes = 100_000
      }
      let large = SimpleRequest(payload: Data(count: 100_000))
      await rpcFailure(.resourceExhausted) { try await channel.unaryCall(large) }
      try await server.process.caughtUp()
      #expect(server.process.count(of: "UnaryCall") == 0)
      for isCompressed in [false, true] {
        let request = SimpleRequest(responseSize: 100_000, responseCompressed: isCompressed)
        let error = await rpcFailure(.resourceExhausted) { try await channel.unaryCall(request) }
        #expect(error?.isFromServer == false)
      }
      let stream = try channel.streamingOutputCall(
        OutputRequest(responses: [9, 100_000].map { ResponseParameters(size: $0) }))
      await rpcFailure(.resourceExhausted) { try await stream.outputSizes() }
      #expect(try await channel.unaryCall(Self.small).payload.count == 10)
      try await server.process.caughtUp()
      #expect(server.connections == 1)
    }
  }
}
