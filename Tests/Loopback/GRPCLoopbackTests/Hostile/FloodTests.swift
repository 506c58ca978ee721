import Foundation
import GRPCValueSupport
import SequencingOAuthGRPC
import TestSupport
import Testing

@testable import GRPCSupport

/// Very many frames, each allowed on its own (RFC 9113, section 10.5).
///
/// Each test keeps a processor busy. Several at once could make a call's time limit pass.
@Suite(.serialized, .timeLimit(.minutes(2))) struct FloodTests {
  /// A frame that repeats on the stream of a call.
  struct Flood: Sendable, CustomTestStringConvertible {
    let name: String
    let frame: [UInt8]
    var testDescription: String { name }
  }

  /// Frames that the client only has to read.
  static let cheap = [
    Flood(
      name: "answers to PING",
      frame: Bytes.frame(type: 6, flags: 1, [UInt8](repeating: 0, count: 8))),
    Flood(name: "PRIORITY", frame: Bytes.frame(.priority, stream: 1, [0, 0, 0, 0, 16])),
    Flood(name: "WINDOW_UPDATE", frame: Bytes.windowUpdate(1)),
    Flood(name: "WINDOW_UPDATE of the stream", frame: Bytes.windowUpdate(1, stream: 1)),
    Flood(name: "unknown frames", frame: Bytes.frame(type: 99, stream: 1, [1, 2, 3])),
    Flood(name: "empty DATA", frame: Bytes.data([])),
    Flood(name: "padding", frame: Bytes.data([1, 0], .padded)),
  ]

  @Test(arguments: cheap)
  func `a call succeeds after a flood of 50,000 meaningless frames`(
    flood: Flood
  ) async throws {
    let steps: [Step] = [
      .preface, .send(Bytes.start), .wait(.headers), .send(Bytes.head()),
      .flood(flood.frame, times: 50_000),
      .send(Bytes.data(Bytes.message()) + Bytes.trailers()), .serve,
    ]
    try await HostileServer.once(steps) { server in
      let channel = try server.channel()
      #expect(try await channel.test("X").response().isEmpty)
      #expect(try await channel.test("Good").response().isEmpty)
      #expect(server.connectionCount == 1)
    }
  }

  /// Frames that require a reply.
  ///
  /// The server reads no reply until it has sent all frames.
  static let demanding = [
    Flood(name: "PING", frame: Bytes.ping),
    Flood(name: "SETTINGS", frame: Bytes.settings()),
    Flood(name: "SETTINGS with entries", frame: Bytes.settings((1, 0), (4, 1), (4, 70_000))),
  ]

  @Test(arguments: demanding)
  func `a flood of frames that need replies is answered or ends the connection`(
    flood: Flood
  ) async throws {
    let count = 100_000
    let steps: [Step] = [
      .preface, .send(Bytes.start), .wait(.headers), .flood(flood.frame, times: count),
      .send(Bytes.answer()), .serve,
    ]
    try await HostileServer.once(steps) { server in
      let channel = try server.channel()
      let call = try channel.test("X")
      do throws(RPCCallError) {
        _ = try await call.response()
      } catch {
        Self.expectFlooded(error)
      }
      #expect(try await channel.test("Good").response().isEmpty)
      let kind = try #require(Bytes.Kind(rawValue: flood.frame[3]))
      // The start of the connection adds a SETTINGS frame and its acknowledgement.
      let replies = (server.log().counts[kind] ?? 0) - (kind == .settings ? 2 : 0)
      #expect(server.connectionCount == 1 ? replies == count : replies <= count)
    }
  }

  @Test(arguments: cheap + demanding)
  func `an endless flood ends its connection and does not stop calls to another server`(
    flood: Flood
  ) async throws {
    let steps: [Step] = [
      .preface, .send(Bytes.start), .wait(.headers), .send(Bytes.head()),
      .flood(flood.frame, times: .max),
    ]
    try await HostileServer.once(steps) { server in
      try await HostileServer.running({ _ in .good }) { other in
        let (channel, otherChannel) = (try server.channel(), try other.channel())
        async let calls = Self.callTwentyTimes(otherChannel)
        let error = await rpcFailure { try await channel.test("X").response() }
        Self.expectFlooded(error)
        #expect(try await calls == 20)
        #expect(try await channel.test("Good").response().isEmpty)
        #expect(server.connectionCount == 2)
        try await eventually("the connection is closed") { server.log().isOver }
      }
    }
  }

  private static func callTwentyTimes(_ channel: RPCChannel) async throws -> Int {
    var count = 0
    for _ in 0..<20 where try await channel.test("Good").response().isEmpty { count += 1 }
    return count
  }

  private static func expectFlooded(_ error: RPCCallError?) {
    // nghttp2 counts the replies that the server has not read.
    if error?.status == .unavailable {
      #expect(error?.message.contains("Flooding") == true, "\(error?.message ?? "")")
      return
    }
    #expect(error?.status == .resourceExhausted)
    #expect(error?.message.contains("far more bytes than the content") == true)
  }

  @Test func `a flood on a connection without a call ends the connection`() async throws {
    let steps: [Step] = [
      .preface, .send(Bytes.start), .wait(.headers), .send(Bytes.answer()),
      .flood(Bytes.windowUpdate(1), times: .max),
    ]
    try await HostileServer.once(steps) { server in
      let channel = try server.channel()
      _ = try? await channel.test("X").response()
      try await eventually("the connection is closed") { server.log().isOver }
      #expect(try await channel.test("Good").response().isEmpty)
    }
  }

  @Test func `many small messages are not treated as a flood`() async throws {
    // Each message has five bytes in a frame of fourteen. Only some of the frames fit into the
    // window.
    let (parts, count) = (3, 28_000)
    let part: [Step] = [
      .flood(Bytes.data(Bytes.message()), times: count), .wait(.windowUpdate, stream: 1),
    ]
    let steps: [Step] =
      [.preface, .send(Bytes.start), .wait(.headers), .send(Bytes.head())]
      + repeatElement(part, count: parts).joined() + [.send(Bytes.trailers()), .serve]
    try await HostileServer.once(steps) { server in
      let call = try server.channel().test("X", kind: .serverStreaming)
      try call.start()
      var received = 0
      for try await _ in call.messages { received += 1 }
      #expect(received == parts * count)
    }
  }

  @Test func `a ping is answered with its own payload`() async throws {
    let steps: [Step] = [
      .preface, .send(Bytes.start), .wait(.headers), .send(Bytes.ping), .wait(.ping),
      .send(Bytes.answer()), .serve,
    ]
    try await HostileServer.once(steps) { server in
      let channel = try server.channel()
      #expect(try await channel.test("X").response().isEmpty)
      let answer = try #require(server.log().frames.first { $0.kind == .ping })
      #expect(answer.flags == .acknowledgement && answer.payload == [1, 2, 3, 4, 5, 6, 7, 8])
    }
  }

  @Test func `too many interim header sections fail the call`() async throws {
    let steps: [Step] = [
      .preface, .send(Bytes.start), .wait(.headers),
      .flood(Bytes.headers([":status": "100"]), times: 50_000), .serve,
    ]
    try await HostileServer.once(steps) { server in
      let channel = try server.channel()
      await rpcFailure(.resourceExhausted) { try await channel.test("X").response() }
      #expect(try await channel.test("Good").response().isEmpty)
      #expect(server.connectionCount == 1)
    }
  }

  /// Endless parts of one header section.
  static let continuations: [Flood] = [
    Flood(name: "of no byte", frame: Bytes.frame(.continuation, stream: 1)),
    Flood(
      name: "of one byte", frame: Bytes.frame(.continuation, stream: 1, [0x88])),
    Flood(
      name: "of 16 kB",
      frame: Bytes.frame(
        .continuation, stream: 1,
        [0x00] + Bytes.literal("x-large") + Bytes.literal(String(repeating: "a", count: 16_000)))),
  ]

  @Test(arguments: continuations)
  func `an endless header section ends the connection`(flood: Flood) async throws {
    let steps: [Step] = [
      .preface, .send(Bytes.start), .wait(.headers),
      .send(Bytes.headers([":status": "200"], [])), .flood(flood.frame, times: 1000),
    ]
    try await HostileServer.once(steps) { server in
      let channel = try server.channel()
      let error = await rpcFailure { try await channel.test("X").response() }
      #expect(error?.is(.unavailable, .resourceExhausted, .internal) == true)
      #expect(try await channel.test("Good").response().isEmpty)
      #expect(server.connectionCount == 2)
      try await eventually("the connection is closed") { server.log().isOver }
    }
  }

  @Test func `a server may reset many calls on one connection`() async throws {
    let steps: [Step] = [
      .preface, .send(Bytes.start), .answer { Bytes.reset(2, stream: $0) },
    ]
    try await HostileServer.once(steps) { server in
      let channel = try server.channel()
      for _ in 0..<500 {
        await rpcFailure(.internal) { try await channel.test("X").response() }
      }
      #expect(server.connectionCount == 1)
    }
  }
}
