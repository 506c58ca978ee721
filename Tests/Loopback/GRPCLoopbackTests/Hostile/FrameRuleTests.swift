import SequencingOAuthGRPC
import Testing

@testable import GRPCSupport

/// Frames that break the rules of RFC 9113, sections 4 to 6, one per test.
@Suite(.timeLimit(.minutes(1))) struct FrameRuleTests {
  /// Frames on a stream whose number or state does not allow them.
  static let misplaced = [
    Offence("DATA on stream 0", .connection, Bytes.data([0], stream: 0)),
    Offence("HEADERS on stream 0", .connection, Bytes.head(stream: 0)),
    Offence(
      "PRIORITY on stream 0", .connection, Bytes.frame(.priority, [0, 0, 0, 0, 16])),
    Offence("RST_STREAM on stream 0", .connection, Bytes.reset(8, stream: 0)),
    Offence("CONTINUATION on stream 0", .connection, Bytes.frame(.continuation, .endHeaders)),
    Offence("SETTINGS on a stream", .connection, Bytes.frame(.settings, stream: 1)),
    Offence(
      "PING on a stream", .connection,
      Bytes.frame(.ping, stream: 1, [UInt8](repeating: 0, count: 8))),
    Offence(
      "GOAWAY on a stream", .connection,
      Bytes.frame(.goAway, stream: 1, [UInt8](repeating: 0, count: 8))),
    Offence("DATA on an idle stream", .connection, Bytes.data([0], stream: 5)),
    Offence("HEADERS on an idle stream", .connection, Bytes.head(stream: 5)),
    Offence("RST_STREAM on an idle stream", .connection, Bytes.reset(8, stream: 5)),
    Offence("WINDOW_UPDATE on an idle stream", .connection, Bytes.windowUpdate(1, stream: 5)),
    Offence("DATA on a stream of the server", .connection, Bytes.data([0], stream: 2)),
    Offence("HEADERS on a stream of the server", .connection, Bytes.head(stream: 2)),
    Offence("RST_STREAM on a stream of the server", .connection, Bytes.reset(8, stream: 2)),
    Offence(
      "WINDOW_UPDATE on a stream of the server", .connection, Bytes.windowUpdate(1, stream: 2)),
    Offence("DATA before HEADERS", .connection, Bytes.data(Bytes.message())),
  ]

  @Test(arguments: misplaced)
  func `a frame on the wrong stream ends the connection`(offence: Offence) async throws {
    try await offence.check()
  }

  /// Frames with a wrong length (RFC 9113, section 4.2, and each type in section 6).
  static let lengths = [
    Offence(
      "PRIORITY of 4 bytes", .connection, .frameSizeError,
      Bytes.frame(.priority, stream: 1, [0, 0, 0, 0])),
    Offence(
      "PRIORITY of 6 bytes", .connection, .frameSizeError,
      Bytes.frame(.priority, stream: 1, [0, 0, 0, 0, 0, 0])),
    Offence(
      "RST_STREAM of 3 bytes", .connection, .frameSizeError,
      Bytes.frame(.reset, stream: 1, [0, 0, 8])),
    Offence(
      "RST_STREAM of 5 bytes", .connection, .frameSizeError,
      Bytes.frame(.reset, stream: 1, [0, 0, 0, 0, 8])),
    Offence(
      "SETTINGS of 5 bytes", .connection, .frameSizeError,
      Bytes.frame(.settings, [0, 3, 0, 0, 0])),
    Offence(
      "an acknowledgement of SETTINGS that is not empty", .connection, .frameSizeError,
      Bytes.frame(.settings, .acknowledgement, [0, 3, 0, 0, 0, 1])),
    Offence(
      "PUSH_PROMISE of 3 bytes", .connection, .frameSizeError,
      Bytes.frame(.pushPromise, .endHeaders, stream: 1, [0, 0, 2])),
    Offence(
      "PING of 7 bytes", .connection, .frameSizeError,
      Bytes.frame(.ping, [UInt8](repeating: 0, count: 7))),
    Offence(
      "PING of 9 bytes", .connection, .frameSizeError,
      Bytes.frame(.ping, [UInt8](repeating: 0, count: 9))),
    Offence(
      "GOAWAY of 7 bytes", .connection, .frameSizeError,
      Bytes.frame(.goAway, [UInt8](repeating: 0, count: 7))),
    Offence(
      "WINDOW_UPDATE of 3 bytes", .connection, .frameSizeError,
      Bytes.frame(.windowUpdate, [0, 0, 1])),
    Offence(
      "WINDOW_UPDATE of 5 bytes", .connection, .frameSizeError,
      Bytes.frame(.windowUpdate, [0, 0, 0, 0, 1])),
    Offence(
      "HEADERS with a priority of 4 bytes", .connection, .frameSizeError,
      Bytes.frame(.headers, [.endHeaders, .priority], stream: 1, [0, 0, 0, 0])),
    Offence(
      "DATA of 16,385 bytes", .connection, .frameSizeError,
      Bytes.head() + Bytes.data([UInt8](repeating: 0, count: 16_385))),
    Offence(
      "an unknown frame of 16,385 bytes", .connection, .frameSizeError,
      Bytes.frame(type: 99, [UInt8](repeating: 0, count: 16_385))),
    Offence(
      "padded DATA without a length of the padding", .connection,
      Bytes.head() + Bytes.data([], .padded)),
    Offence(
      "DATA with more padding than payload", .connection,
      Bytes.head() + Bytes.data([3, 0, 0], .padded)),
    Offence(
      "padded HEADERS without a length of the padding", .connection,
      Bytes.frame(.headers, [.endHeaders, .padded], stream: 1)),
    Offence(
      "HEADERS with more padding than payload", .connection,
      Bytes.frame(.headers, [.endHeaders, .padded], stream: 1, [3, 0, 0])),
  ]

  @Test(arguments: lengths)
  func `a frame of a wrong length ends the connection`(offence: Offence) async throws {
    try await offence.check()
  }

  /// Settings with invalid values (RFC 9113, section 6.5.2).
  static let settings = [
    Offence("ENABLE_PUSH of 2", .connection, Bytes.settings((2, 2))),
    Offence("ENABLE_PUSH of 1, from a server", .connection, Bytes.settings((2, 1))),
    Offence(
      "INITIAL_WINDOW_SIZE of 2^31", .connection, .flowControlError, Bytes.settings((4, 1 << 31))),
    Offence("MAX_FRAME_SIZE of 16,383", .connection, Bytes.settings((5, 16_383))),
    Offence("MAX_FRAME_SIZE of 2^24", .connection, Bytes.settings((5, 1 << 24))),
    Offence("ENABLE_CONNECT_PROTOCOL of 2", .connection, Bytes.settings((8, 2))),
    Offence(
      "a hundred entries", .connection, .enhanceYourCalm,
      Bytes.frame(.settings, [UInt8](repeating: 0x99, count: 6 * 100))),
    Offence(
      "an acknowledgement of settings that were not sent", .connection,
      Bytes.settingsAcknowledgement + Bytes.settingsAcknowledgement),
  ]

  @Test(arguments: settings)
  func `an invalid setting ends the connection`(offence: Offence) async throws {
    try await offence.check()
  }

  @Test(arguments: Offence.windows)
  func `an invalid window update ends the call or the connection`(offence: Offence) async throws {
    try await offence.check()
  }

  /// The payload of a PUSH_PROMISE frame.
  private static let promise =
    Bytes.number(2)
    + Bytes.block([":method": "GET", ":scheme": "http", ":path": "/", ":authority": "127.0.0.1"])

  /// Frames at a wrong time (RFC 9113, sections 6.6 and 6.10).
  static let others = [
    Offence(
      "PUSH_PROMISE, although push is off", .connection,
      Bytes.frame(
        .pushPromise, .endHeaders, stream: 1, promise)),
    Offence(
      "CONTINUATION without HEADERS", .connection,
      Bytes.frame(.continuation, .endHeaders, stream: 1, Bytes.block(["a": "b"]))),
    Offence(
      "CONTINUATION after a complete header section", .connection,
      Bytes.head() + Bytes.frame(.continuation, .endHeaders, stream: 1)),
    Offence(
      "another frame inside a header section", .connection,
      Bytes.headers([":status": "200"], []) + Bytes.ping),
    Offence(
      "CONTINUATION of another stream", .connection,
      Bytes.headers([":status": "200"], [])
        + Bytes.frame(.continuation, .endHeaders, stream: 3)),
  ]

  @Test(arguments: others)
  func `a frame at the wrong time ends the connection`(offence: Offence) async throws {
    try await offence.check()
  }

  /// Frames that a receiver must ignore or accept (RFC 9113, sections 4.1, 5.5 and 6).
  static let ignored: [(String, [UInt8])] = [
    ("a frame of an unknown type", Bytes.frame(type: 99, flags: 0xFF, stream: 1, [1, 2, 3])),
    ("an unknown frame on an idle stream", Bytes.frame(type: 99, stream: 7, [1, 2, 3])),
    ("ALTSVC", Bytes.frame(type: 10, stream: 1, [0, 0, 1])),
    ("ORIGIN", Bytes.frame(type: 12, [0, 1, 0x61])),
    ("PRIORITY_UPDATE", Bytes.frame(type: 16, [0, 0, 0, 1])),
    ("PRIORITY", Bytes.frame(.priority, stream: 1, [0, 0, 0, 0, 16])),
    ("PRIORITY on an idle stream", Bytes.frame(.priority, stream: 9, [0, 0, 0, 1, 16])),
    ("unknown settings", Bytes.settings((0x99, 7), (0xFFFF, 0xFFFF_FFFF))),
    ("a setting twice", Bytes.settings((3, 1), (3, 100), (4, 1), (4, 1 << 20))),
    (
      "unknown flags",
      Bytes.frame(type: 6, flags: 0xFE, [UInt8](repeating: 0, count: 8))
    ),
    (
      "the reserved bit of a stream's number",
      Bytes.frame(.windowUpdate, stream: 1 << 31 | 1, Bytes.number(1))
    ),
    ("the reserved bit of a window", Bytes.windowUpdate(1 << 31 | 1, stream: 1)),
    (
      "a padded head",
      Bytes.frame(
        .headers, [.endHeaders, .padded], stream: 1,
        [4] + Bytes.block([":status": "103", "link": "</a>"]) + [0, 0, 0, 0])
    ),
  ]

  @Test(arguments: ignored)
  func `a frame that receivers must ignore or accept does not disturb a call`(
    name: String, bytes: [UInt8]
  ) async throws {
    try await HostileServer.once(.afterRequest(.send(bytes + Bytes.answer()))) { server in
      let channel = try server.channel()
      #expect(try await channel.test("Call").response().isEmpty)
      #expect(try await channel.test("Good").response().isEmpty)
      #expect(server.connectionCount == 1)
    }
  }

  /// The client's settings apply only after the server has acknowledged them.
  @Test func `a PUSH_PROMISE that is sent before SETTINGS are acknowledged is ignored`()
    async throws
  {
    let bytes =
      Bytes.frame(.pushPromise, .endHeaders, stream: 1, Self.promise)
      + Bytes.head(stream: 2) + Bytes.data([1, 2, 3], stream: 2) + Bytes.reset(8, stream: 2)
    let steps: [Step] = [
      .preface, .send(Bytes.settings()), .wait(.headers), .send(bytes + Bytes.answer()), .serve,
    ]
    try await HostileServer.once(steps) { server in
      let channel = try server.channel()
      #expect(try await channel.test("Call").response().isEmpty)
      #expect(try await channel.test("Good").response().isEmpty)
      #expect(server.connectionCount == 1)
    }
  }
}
