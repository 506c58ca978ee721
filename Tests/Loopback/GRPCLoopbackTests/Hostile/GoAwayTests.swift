import Foundation
import GRPCValueSupport
import SequencingOAuthGRPC
import TestSupport
import Testing

@testable import GRPCSupport

/// Servers that announce the end of a connection, correctly or not (RFC 9113, section 6.8).
@Suite(.timeLimit(.minutes(1))) struct GoAwayTests {
  @Test(arguments: [0, 2, 7, 11] as [UInt32])
  func `after GOAWAY, a call that the server has not started is sent on a new connection`(
    code: UInt32
  ) async throws {
    let bytes = Bytes.goAway(last: 0, code: code)
    try await HostileServer.once(.afterRequest(.send(bytes))) { server in
      let channel = try server.channel()
      #expect(try await channel.test("X").response().isEmpty)
      #expect(server.connectionCount == 2)
      try await eventually("the connection is closed") { server.log().isOver }
    }
  }

  static let announcements: [(name: String, bytes: [UInt8])] = [
    ("for the stream", Bytes.goAway(last: 1)),
    ("for all streams", Bytes.goAway(last: .max >> 1)),
    ("twice", Bytes.goAway(last: .max >> 1) + Bytes.goAway(last: 1)),
    ("with a reason", Bytes.goAway(last: 1, code: 11, [UInt8]("too_many_pings".utf8))),
    ("many times", [UInt8](repeatElement(Bytes.goAway(last: 1), count: 1000).joined())),
  ]

  @Test(arguments: announcements)
  func `after GOAWAY, a call that the server has started can finish`(name: String, bytes: [UInt8])
    async throws
  {
    try await HostileServer.once(.afterRequest(.send(bytes + Bytes.answer()))) { server in
      let channel = try server.channel()
      #expect(try await channel.test("X").response().isEmpty)
      #expect(try await channel.test("Good").response().isEmpty)
      #expect(server.connectionCount == 2)
      try await eventually("the connection is closed") { server.log().isOver }
    }
  }

  static let wrong = [
    Offence("a stream of the server", .connection, Bytes.goAway(last: 2)),
    Offence(
      "more streams than before", .connection, Bytes.goAway(last: 1) + Bytes.goAway(last: 3)),
  ]

  @Test(arguments: wrong)
  func `an invalid GOAWAY ends the connection`(offence: Offence) async throws {
    try await offence.check()
  }

  @Test func `a server that is silent after GOAWAY delays only the call on that connection`()
    async throws
  {
    try await HostileServer.once(.afterRequest(.send(Bytes.goAway(last: 1)))) { server in
      let channel = try server.channel()
      let call = try channel.test("X")
      try call.start()
      try await eventually("the call is sent") { server.log().counts[.headers] == 1 }
      try await eventually("another connection is used") {
        _ = try await channel.test("Good").response()
        return server.connectionCount == 2
      }
      call.cancel()
      await rpcFailure(.cancelled) { try await call.response() }
      try await eventually("the connection is closed") { server.log().isOver }
    }
  }

  @Test func `the reason in a GOAWAY is shown without control characters`() async throws {
    let controls = (0..<32).map { UInt8($0) } + [0x7F, 0xC2, 0x9B, 0xE2, 0x80, 0xAE, 0xFF]
    let debug = [UInt8](repeatElement(controls + "word".utf8, count: 400).joined()).prefix(16_000)
    let bytes = Bytes.goAway(last: 1, code: 2, [UInt8](debug))
    try await HostileServer.once(.afterRequest(.send(bytes), .close)) { server in
      let channel = try server.channel()
      let error = try #require(
        await rpcFailure(.unavailable) { try await channel.test("X").response() })
      #expect(error.message.contains(": INTERNAL_ERROR (") && error.message.contains("word"))
      #expect(error.message.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 127 })
      #expect(!error.message.unicodeScalars.contains { $0 == "\u{9B}" || $0 == "\u{202E}" })
      #expect(error.message.count < 250)
      #expect(try await channel.test("Good").response().isEmpty)
    }
  }

  @Test(arguments: ["c4n4ry", String(repeating: "c4n4ry", count: 50)])
  func `a token that is repeated in a GOAWAY is removed from the error`(token: String) async throws
  {
    let bytes = Bytes.goAway(last: 1, code: 2, [UInt8]("bad \(token)".utf8))
    try await HostileServer.once(.afterRequest(.send(bytes), .close)) { server in
      let call = try server.channel().test("X")
      try call.setOAuth2AccessToken(token)
      let error = try #require(await rpcFailure(.unavailable) { try await call.response() })
      #expect(error.message.contains("INTERNAL_ERROR (bad"), "\(error)")
      #expect(!error.message.contains("c4n4ry"), "\(error)")
    }
  }

  @Test func `a token that is repeated in a GOAWAY is removed from the errors of other calls`()
    async throws
  {
    let bytes = Bytes.goAway(last: 3, code: 2, [UInt8]("bad c4n4ry".utf8))
    let steps: [Step] = [.preface, .send(Bytes.start), .wait(.headers), .wait(.headers)]
    try await HostileServer.once(steps + [.send(bytes), .close]) { server in
      let channel = try server.channel()
      let calls = try ["c4n4ry", "another"].map { token in
        let call = try channel.test("X")
        try call.setOAuth2AccessToken(token)
        try call.start()
        return call
      }
      for call in calls {
        let error = try #require(await rpcFailure(.unavailable) { try await call.response() })
        #expect(error.message.contains("INTERNAL_ERROR (bad [removed])"), "\(error)")
      }
    }
  }

  @Test func `after GOAWAY, the calls above its last stream are made on a new connection`()
    async throws
  {
    let answers = stride(from: 1, to: 64, by: 2).flatMap { Bytes.answer([1], stream: $0) }
    let requests = [Step](repeating: .wait(.headers), count: 64)
    let end = [Step.send(Bytes.goAway(last: 63) + answers)]
    try await HostileServer.once([.preface, .send(Bytes.start)] + requests + end) { server in
      let channel = try server.channel()
      try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<64 {
          group.addTask { try await channel.test("X").response().count }
        }
        var sum = 0
        for try await count in group { sum += count }
        #expect(sum == 32)
      }
      #expect(server.connectionCount == 2 && server.log(1).counts[.headers] == 32)
    }
  }

  @Test(arguments: [Bytes.reset(8, stream: 0), Bytes.frame(.ping, [0])])
  func `all calls fail when their connection ends`(bytes: [UInt8]) async throws {
    let requests = [Step](repeating: .wait(.headers), count: 64)
    let steps = [.preface, .send(Bytes.start)] + requests + [.send(bytes)]
    try await HostileServer.once(steps) { server in
      let channel = try server.channel()
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<64 {
          group.addTask {
            await rpcFailure(.unavailable) { try await channel.test("X").response() }
          }
        }
      }
      #expect(try await channel.test("Good").response().isEmpty)
      #expect(server.connectionCount == 2)
    }
  }

  @Test func `a call fails after five connections that begin with GOAWAY`() async throws {
    let bytes = Bytes.settings() + Bytes.goAway(last: 0)
    try await HostileServer.running({ _ in [.preface, .send(bytes)] }) { server in
      let channel = try server.channel()
      let call = try channel.test("X")
      try call.setTimeout(nil)
      await rpcFailure(.unavailable) { try await call.response() }
      #expect(server.connectionCount == 5)
    }
  }

  @Test func `after GOAWAY, a request that is too large to be buffered is not sent again`()
    async throws
  {
    let windows = Bytes.settings((4, 1 << 20)) + Bytes.windowUpdate(1 << 20)
    let reading = [Step](repeating: .wait(.data), count: 18)
    let steps = [.preface, .send(windows)] + reading + [.send(Bytes.goAway(last: 0))]
    try await HostileServer.once(steps) { server in
      let channel = try server.channel()
      let call = try channel.test("X", kind: .clientStreaming)
      try call.start()
      // The call may end before `send` accepts the last messages.
      for _ in 0..<4 { try? await call.send(Data(count: 100_000)) }
      let error = await rpcFailure(.unavailable) { try await call.response() }
      #expect(error?.message.contains("did not take the call: NO_ERROR") == true)
      #expect(try await channel.test("Good").response().isEmpty)
      #expect(server.connectionCount == 2)
    }
  }
}
