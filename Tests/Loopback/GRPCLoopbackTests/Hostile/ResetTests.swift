import Foundation
import GRPCValueSupport
import SQBasics
import SequencingOAuthGRPC
import TestSupport
import Testing

@testable import GRPCSupport
@testable import SQHTTP2

/// Servers that reset streams (RFC 9113, section 6.4).
@Suite(.timeLimit(.minutes(1))) struct ResetTests {
  /// The statuses of gRPC's `doc/PROTOCOL-HTTP2.md`, "Errors".
  static let codes: [(code: UInt32, name: String, status: RPCStatus)] = [
    (0, "NO_ERROR", .internal), (1, "PROTOCOL_ERROR", .internal),
    (2, "INTERNAL_ERROR", .internal), (3, "FLOW_CONTROL_ERROR", .internal),
    (4, "SETTINGS_TIMEOUT", .internal), (5, "STREAM_CLOSED", .internal),
    (6, "FRAME_SIZE_ERROR", .internal), (8, "CANCEL", .cancelled),
    (9, "COMPRESSION_ERROR", .internal), (10, "CONNECT_ERROR", .internal),
    (11, "ENHANCE_YOUR_CALM", .resourceExhausted),
    (12, "INADEQUATE_SECURITY", .permissionDenied), (13, "HTTP_1_1_REQUIRED", .internal),
    (14, "error 14", .internal), (.max, "error 4294967295", .internal),
  ]

  @Test(arguments: codes, [[], Bytes.head(), Bytes.head() + Bytes.data(Bytes.message())])
  func `each RST_STREAM code gives the call the matching gRPC status`(
    row: (code: UInt32, name: String, status: RPCStatus), before: [UInt8]
  ) async throws {
    let bytes = before + Bytes.reset(row.code)
    try await HostileServer.once(.afterRequest(.send(bytes))) { server in
      let channel = try server.channel()
      let error = await rpcFailure(row.status) { try await channel.test("X").response() }
      #expect(error?.message == "\(server.authority) reset the call: \(row.name)")
      #expect(try await channel.test("Good").response().isEmpty)
      #expect(server.connectionCount == 1)
    }
  }

  /// The server also knows the deadline of a call, and may end the call first.
  @Test func `a call that the server cancels at its deadline has exceeded the deadline`()
    async throws
  {
    let pause = LoopPause()
    let steps: [Step] = [
      .preface, .send(Bytes.start),
      .answer { stream in
        // The client reads the frame only after the deadline.
        pause.begin()
        return Bytes.reset(8, stream: stream)
      },
    ]
    try await HostileServer.once(steps) { server in
      let call = try server.channel().test("X")
      try call.setTimeout(.milliseconds(100))
      await rpcFailure(.deadlineExceeded) { try await call.response() }
    }
  }

  @Test func `a call that is reset with REFUSED_STREAM is sent again`() async throws {
    let steps: [Step] = [
      .preface, .send(Bytes.start), .wait(.headers, stream: 1), .send(Bytes.reset(7)),
      .wait(.headers, stream: 3), .send(Bytes.reset(7, stream: 3)), .serve,
    ]
    try await HostileServer.once(steps) { server in
      let channel = try server.channel()
      #expect(try await channel.test("X", "request").response().isEmpty)
      #expect(server.connectionCount == 1 && server.log().counts[.headers] == 3)
    }
  }

  @Test func `a call that is reset with REFUSED_STREAM five times fails`() async throws {
    let steps: [Step] = [
      .preface, .send(Bytes.start), .answer { Bytes.reset(7, stream: $0) },
    ]
    try await HostileServer.running({ _ in steps }) { server in
      let call = try server.channel().test("X")
      try call.setTimeout(nil)
      let error = await rpcFailure(.unavailable) { try await call.response() }
      #expect(error?.message.contains("refused the call repeatedly") == true)
      #expect(server.connectionCount == 1 && server.log().counts[.headers] == 5)
    }
  }

  @Test func `a call that is refused after its response headers is not sent again`() async throws {
    let bytes = Bytes.head() + Bytes.reset(7)
    try await HostileServer.once(.afterRequest(.send(bytes))) { server in
      await rpcFailure(.unavailable) { try await server.channel().test("X").response() }
      #expect(server.log().counts[.headers] == 1)
    }
  }

  @Test(arguments: [[], Bytes.reset(0), Bytes.reset(8), Bytes.reset(7)])
  func `a complete answer is accepted while the request is still being sent`(
    after: [UInt8]
  ) async throws {
    let bytes = Bytes.answer([1, 2, 3]) + after
    try await HostileServer.once(.afterRequest(.send(bytes))) { server in
      let channel = try server.channel()
      // The server's window only allows the first 64 KiB.
      let call = try channel.call(method("X"), request: Data(count: 1 << 20))
      #expect(try await call.response() == Data([1, 2, 3]))
      #expect(server.connectionCount == 1 && server.log().counts[.headers] == 1)
      let stream = try channel.test("Good", kind: .serverStreaming)
      try stream.start()
      try await eventually("the connection is used again") {
        server.log().counts[.headers] == 2
      }
      stream.cancel()
    }
  }

  @Test func `after a complete answer the client can send no more messages`() async throws {
    let bytes = Bytes.answer([1, 2, 3]) + Bytes.reset(0)
    try await HostileServer.once(.afterRequest(.send(bytes))) { server in
      let channel = try server.channel()
      let call = try channel.test("X", kind: .clientStreaming)
      #expect(try await call.response() == Data([1, 2, 3]))
      await rpcFailure { try await call.send(Data(count: 1)) }
      #expect(try await channel.test("Good").response().isEmpty)
    }
  }

  @Test func `frames after the end of a response do not change the response`() async throws {
    let after =
      Bytes.data(Bytes.message()) + Bytes.head() + Bytes.trailers()
      + Bytes.windowUpdate(1, stream: 1) + Bytes.reset(2) + Bytes.reset(2)
    for size in [0, 1 << 20] {
      try await HostileServer.once(.afterRequest(.send(Bytes.answer([1]) + after))) { server in
        let channel = try server.channel()
        let call = try channel.call(method("X"), request: Data(count: size))
        #expect(try await call.response() == Data([1]))
        // The server must not send frames after the end of its response, so the client may ignore
        // them or close the connection.
        if size == 0 { #expect(try await channel.test("Good").response().isEmpty) }
      }
    }
  }

  @Test func `resets of closed streams are not kept in memory`() throws {
    let owner = SilentOwner()
    let session = try #require(HTTP2Session(isServer: false, owner: owner))
    try session.receive(all: Bytes.settings())
    var output: [UInt8] = []
    for index in 0..<1000 {
      let stream = try #require(
        session.request(HeaderBlock([":method": "POST", ":scheme": "http", ":path": "/"])))
      #expect(stream == 2 * index + 1)
      output = []
      try session.takeOutput(into: &output, limit: 1 << 20)
      let number = UInt32(stream)
      try session.receive(all: Bytes.answer(stream: number) + Bytes.reset(0, stream: number))
      try session.receive(all: Bytes.reset(0, stream: number))
    }
    #expect(owner.closed == 1000 && session.resetRemotely.isEmpty)
  }
}

/// A pause of the thread that reads all connections.
private final class LoopPause: EventHandler {
  private let hasBegun = DispatchSemaphore(value: 0)

  /// Returns when the pause has begun; it lasts 0.2 s.
  func begin() {
    guard let loop = EventLoop.shared else { return }
    loop.callSoon(self)
    hasBegun.wait()
  }

  func isCalled() {
    hasBegun.signal()
    Thread.sleep(forTimeInterval: 0.2)
  }
}

/// An owner that sends empty requests and counts closed streams.
private final class SilentOwner: HTTP2SessionOwner {
  var closed = 0

  func content(
    of stream: Int32, into buffer: UnsafeMutableRawBufferPointer
  ) -> HTTP2Session.Piece { .last(0) }

  func closed(_ stream: Int32, _ code: HTTP2ErrorCode, isRemote: Bool) { closed += 1 }

  func sectionBegins(of stream: Int32) {}
  func received(
    _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, of stream: Int32
  ) -> Bool { true }
  func sectionEnds(of stream: Int32, isEnd: Bool) {}
  func received(_ content: UnsafeRawBufferPointer, of stream: Int32) {}
  func contentEnds(of stream: Int32) {}
}

extension HTTP2Session {
  fileprivate func receive(all bytes: [UInt8]) throws {
    try bytes.withUnsafeBytes { bytes in
      do { try receive(bytes) } catch { throw error as any Error }
    }
  }
}
