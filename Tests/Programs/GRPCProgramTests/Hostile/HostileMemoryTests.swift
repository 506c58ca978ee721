import Foundation
import GRPCValueSupport
import SequencingOAuth
import SequencingOAuthGRPC
import TestSupport
import Testing

@testable import GRPCSupport
@testable import SequencingOAuthGRPC

/// Hostile servers, which must not increase the memory of the process.
///
/// Each measuring test runs in its own process, so that it has its own peak.
@Suite(.timeLimit(.minutes(5))) struct HostileMemoryTests {
  /// What a server sends to each call.
  ///
  /// The call fails or takes a while.
  enum Load: String, CaseIterable, Sendable {
    case questions, settings, heads, repeatedField, continuations, page, padding, announcements
    case slowReader

    /// The server's steps after the request.
    var steps: [Step] {
      switch self {
      case .questions: [.flood(Bytes.ping, times: 2_000_000), .send(Bytes.answer())]
      case .settings: [.flood(Bytes.settings(), times: 2_000_000), .send(Bytes.answer())]
      case .heads: [.flood(Bytes.headers([":status": "100"]), times: 1_000_000)]
      case .repeatedField: [.send(Bytes.repeatedField)]
      case .continuations:
        [
          .send(Bytes.headers([":status": "200"], [])),
          .flood(
            Bytes.frame(.continuation, stream: 1, [UInt8](repeating: 0x88, count: 16_000)),
            times: 2000),
        ]
      case .page:
        [
          .send(Bytes.headers([":status": "404"])),
          .flood(Bytes.data([UInt8](repeating: 0x20, count: 16_384)), times: 2000),
        ]
      case .padding:
        [
          .send(Bytes.head()),
          .flood(Bytes.data([255] + [UInt8](repeating: 0, count: 255), .padded), times: 100_000),
        ]
      case .announcements:
        [
          .flood(
            Bytes.goAway(last: 1, code: 11, [UInt8](repeating: 0x61, count: 16_000)), times: 2000),
          .send(Bytes.answer()),
        ]
      case .slowReader:
        [
          .send(Bytes.head()),
          .flood(Bytes.data(Bytes.message([UInt8](repeating: 7, count: 1000))), times: 30_000),
        ]
      }
    }
  }

  @Test(
    .ownThreads,
    .disabled(if: isSanitized, "the sanitizer's own memory would be counted"),
    arguments: Load.allCases)
  func `a flood of frames from a hostile server uses under 20 MB of memory`(load: Load) async {
    await #expect(processExitsWith: .success) { [name = load.rawValue as String] in
      let load = try #require(Load(rawValue: name))
      let steps = [.preface, .send(Bytes.start), .wait(.headers)] + load.steps + [Step.close]
      try await HostileServer.running({ $0 == 0 ? .good : steps }) { server in
        // The first connection allocates what the process always needs.
        _ = try await server.channel().test("Good").response()
        let before = try Self.memory("VmHWM:")
        for index in 0..<10 {
          var options = RPCOptions.short
          options.keepAlive = .seconds(100 + index)
          let channel = try server.channel(options: options)
          let call = try channel.test("X", kind: load == .slowReader ? .serverStreaming : .unary)
          try call.start()
          try await eventually("the call ends") { call.status != nil }
        }
        // The server sends its flood after it has received the request's headers, so each call got
        // a flood.
        for index in 1...10 { try #require(server.log(index).counts[.headers] ?? 0 > 0) }
        try #require(try Self.memory("VmHWM:") - before < 20_000)
      }
    }
  }

  // MARK: Ten thousand connections and streams

  /// The ways in which the servers end connections.
  static let ends: [[Step]] = [
    [.reset],
    [.preface, .reset],
    [.preface, .send(Bytes.start + Bytes.ping), .wait(.headers), .reset],
    [.preface, .send(Bytes.start), .wait(.headers), .send(Bytes.head()), .reset],
    [.preface, .send(Bytes.start), .wait(.headers), .send(Bytes.reset(8, stream: 0))],
    [.preface, .send(Bytes.start), .wait(.headers), .send(Bytes.reset(2) + Bytes.goAway(last: 1))],
    [.preface, .send(Bytes.start), .wait(.headers), .send(Bytes.repeatedField), .reset],
    [.preface, .send([UInt8]("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)), .reset],
  ]

  @Test(.ownThreads, .disabled(if: isSanitized, "the sanitizer's own memory would be counted"))
  func `ten thousand hostile connections leave no memory or descriptors behind`() async {
    await #expect(processExitsWith: .success) {
      try await HostileServer.running({ Self.ends[$0 % Self.ends.count] }) { server in
        try await Self.callInVain(server, 0..<2000)
        let before = try Self.memory("VmRSS:")
        try await Self.callInVain(server, 2000..<12_000)
        try #require(server.connectionCount >= 12_000)
        // A thousand bytes per connection would be 10 MB.
        try #require(try Self.memory("VmRSS:") - before < 4000)
        try #require(try Self.descriptors() < 100)
      }
    }
  }

  @Test func `an RPCPeer of a hostile server is deallocated after its call fails`() async throws {
    try await HostileServer.running({ Self.ends[$0 % Self.ends.count] }) { server in
      for index in 0..<Self.ends.count {
        weak var peer: RPCPeer?
        do {
          var options = RPCOptions.short
          options.keepAlive = .seconds(100 + index)
          let channel = try server.channel(options: options)
          peer = channel.peer
          await rpcFailure { try await channel.test("X").response() }
        }
        try await eventually("the peer is deallocated") { peer == nil }
      }
    }
  }

  /// Makes calls that fail, each on a new connection and without a pause before it.
  private static func callInVain(_ server: HostileServer, _ numbers: Range<Int>) async throws {
    for number in numbers {
      // Channels with different ping intervals share no connection, so each call opens a new one.
      var options = RPCOptions.short
      options.keepAlive = .seconds(1000 + number)
      let call = try server.channel(options: options).test("X")
      await rpcFailure { try await call.response() }
    }
  }

  @Test(.ownThreads, .disabled(if: isSanitized, "the sanitizer's own memory would be counted"))
  func `ten thousand hostile streams leave no memory behind`() async {
    await #expect(processExitsWith: .success) {
      // Every way to end a stream early, and some that end it twice.
      let answers: [@Sendable (UInt32) -> [UInt8]] = [
        { Bytes.reset(2, stream: $0) },
        { Bytes.head(stream: $0) + Bytes.reset(0, stream: $0) + Bytes.reset(0, stream: $0) },
        { Bytes.headers([":status": "abc"], stream: $0) + Bytes.trailers(stream: $0) },
        { Bytes.head(stream: $0) + Bytes.data([9, 9, 9, 9, 9], stream: $0) },
        { Bytes.head(stream: $0) + Bytes.data([0, 255, 255, 255, 255], stream: $0) },
        { Bytes.answer(stream: $0) + Bytes.reset(0, stream: $0) + Bytes.data([1], stream: $0) },
        { Bytes.windowUpdate(.max >> 1, stream: $0) },
      ]
      let steps: [Step] = [
        .preface, .send(Bytes.start), .answer { answers[Int($0 / 2) % answers.count]($0) },
      ]
      try await HostileServer.running({ _ in steps }) { server in
        let channel = try server.channel()
        for _ in 0..<2000 { _ = try? await channel.test("X").response() }
        let before = try Self.memory("VmRSS:")
        for _ in 0..<10_000 { _ = try? await channel.test("X").response() }
        try #require(server.connectionCount == 1)
        try #require(server.log().counts[.headers] ?? 0 >= 12_000)
        try #require(try Self.memory("VmRSS:") - before < 4000)
      }
    }
  }

  /// Returns a number of `/proc/self/status` in kB.
  private static func memory(_ name: String) throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix(name) })
    return try #require(
      line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
  }

  private static func descriptors() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
  }
}
