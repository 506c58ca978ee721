import Foundation
import GRPCValueSupport
import SequencingOAuth
import SequencingOAuthGRPC
import TestSupport
import Testing

@testable import GRPCSupport
@testable import SequencingOAuthGRPC

/// Servers that do not start with HTTP/2, or fail soon after the start.
@Suite(.timeLimit(.minutes(1))) struct BeginningTests {
  /// A server that sends something other than HTTP/2.
  ///
  /// A test's name does not show the bytes: printing a hundred thousand of them can take seconds.
  struct Foreign: CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]

    init(_ name: String, _ bytes: [UInt8]) {
      testDescription = name
      self.bytes = bytes
    }
  }

  static let foreign = [
    Foreign("PING before SETTINGS", Bytes.ping),
    Foreign("an answer before SETTINGS", Bytes.answer()),
    Foreign("GOAWAY before SETTINGS", Bytes.goAway(last: 0, code: 1)),
    Foreign("an acknowledgement before SETTINGS", Bytes.settingsAcknowledgement),
    Foreign("SETTINGS of a wrong length", Bytes.frame(.settings, [0, 3, 0])),
    Foreign("SETTINGS with a wrong value", Bytes.settings((2, 2))),
    Foreign("HTTP/1.1", [UInt8]("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".utf8)),
    Foreign("HTTP/1.0", [UInt8]("HTTP/1.0 505 HTTP Version Not Supported\r\n\r\n".utf8)),
    Foreign("the greeting of a mail server", [UInt8]("220 mail.example ESMTP ready\r\n".utf8)),
    Foreign("a TLS alert", [0x15, 3, 1, 0, 2, 2, 40, 0, 0, 0, 0]),
    Foreign("zeros", [UInt8](repeating: 0, count: 100_000)),
    Foreign("ones", [UInt8](repeating: 0xFF, count: 100_000)),
  ]

  @Test(arguments: foreign, [false, true])
  func `a call to a server that does not speak HTTP/2 fails with an error that says so`(
    server: Foreign, isSlow: Bool
  ) async throws {
    let step = isSlow ? Step.trickle(Array(server.bytes.prefix(200))) : .send(server.bytes)
    try await HostileServer.once([.preface, step]) { server in
      let channel = try server.channel()
      let error = await rpcFailure(.unavailable) { try await channel.test("X").response() }
      #expect(error?.oauthError?.code == .invalidResponse)
      let start = "\(server.authority) does not speak HTTP/2"
      #expect(error?.message.hasPrefix(start) == true, "\(String(describing: error))")
      #expect(try await channel.test("Good").response().isEmpty)
      #expect(server.connectionCount == 2)
      try await eventually("the connection is closed") { server.log().isOver }
    }
  }

  /// What a server does before it ends the connection.
  static let starts: [(name: String, steps: [Step])] = [
    ("before anything", []),
    ("inside the preface", [.anything]),
    ("after the preface", [.preface]),
    ("inside the head of a frame", [.preface, .send([0, 0, 0, 4, 0])]),
    ("inside a frame", [.preface, .send(Array(Bytes.settings((3, 100)).dropLast(2)))]),
    ("after SETTINGS", [.preface, .send(Bytes.settings())]),
    ("after the request", [.preface, .send(Bytes.settings()), .wait(.headers)]),
    (
      "inside a header section",
      [.preface, .wait(.headers), .send(Bytes.settings() + Bytes.headers([":status": "200"], []))]
    ),
    ("after the head", [.preface, .wait(.headers), .send(Bytes.settings() + Bytes.head())]),
    (
      "inside a message",
      [
        .preface, .wait(.headers),
        .send(Bytes.settings() + Bytes.head() + Bytes.data([0, 0, 0])),
      ]
    ),
    (
      "after the messages",
      [
        .preface, .wait(.headers),
        .send(Bytes.settings() + Bytes.head() + Bytes.data(Bytes.message())),
      ]
    ),
  ]

  @Test(arguments: starts, [false, true])
  func `a connection that ends too early fails the call`(
    start: (name: String, steps: [Step]), isReset: Bool
  ) async throws {
    // A reset while the client is still connecting counts as a refused connection.
    let first: [Step] = isReset && start.steps.isEmpty ? [.contact] : []
    let steps = first + start.steps + [isReset ? .reset : .close]
    try await HostileServer.once(steps) { server in
      let channel = try server.channel()
      let error = await rpcFailure(.unavailable) { try await channel.test("X").response() }
      #expect(error?.message.hasPrefix("the connection to \(server.authority) ") == true)
      #expect(error?.isFromServer == false)
      #expect(try await channel.test("Good").response().isEmpty)
      #expect(server.connectionCount == 2)
    }
  }

  @Test func `the client stops waiting for a silent server after a time limit`() throws {
    var pulse = ConnectionPulse(interval: nil)
    guard case .none = pulse.task(at: pulse.due - 1) else { throw Unexpected() }
    guard case .giveUp = pulse.task(at: pulse.due) else { throw Unexpected() }
    pulse.isProven = true
    guard case .close = pulse.task(at: pulse.due) else { throw Unexpected() }
  }

  private struct Unexpected: Error {}

  @Test(arguments: [[], Bytes.settings()])
  func `a silent server does not hold a call beyond its time limit`(
    start: [UInt8]
  ) async throws {
    try await HostileServer.once([.preface, .send(start)]) { server in
      let channel = try server.channel()
      let cancelled = try channel.test("X")
      try cancelled.start()
      try await eventually("the first call is sent") { server.log().counts[.headers] == 1 }
      let call = try channel.test("X")
      try call.setTimeout(.milliseconds(300))
      await rpcFailure(.deadlineExceeded) { try await call.response() }
      cancelled.cancel()
      await rpcFailure(.cancelled) { try await cancelled.response() }
      // On a busy machine, the second call's time limit may expire before the call is sent, so the
      // number of resets is not fixed.
      try await eventually("the server got a reset for each call") {
        let counts = server.log().counts
        return counts[.reset] == counts[.headers]
      }
    }
  }

  @Test func `a response that arrives one byte at a time is accepted`() async throws {
    let steps: [Step] = [
      .preface, .trickle(Bytes.settings((3, 100))), .wait(.headers),
      .trickle(Bytes.headers([":status": "103"]) + Bytes.ping + Bytes.answer([1, 2, 3])), .serve,
    ]
    try await HostileServer.once(steps) { server in
      let channel = try server.channel()
      #expect(try await channel.test("X").response() == Data([1, 2, 3]))
      #expect(try await channel.test("Good").response().isEmpty)
      #expect(server.connectionCount == 1)
    }
  }

  @Test(arguments: 1...8)
  func `a frame header may arrive in two parts`(cut: Int) async throws {
    let answer = Bytes.answer([1, 2, 3])
    let steps: [Step] = [
      .preface, .send(Bytes.settings()), .wait(.headers), .trickle(Array(answer.prefix(cut))),
      .send(Array(answer.dropFirst(cut))), .serve,
    ]
    try await HostileServer.once(steps) { server in
      let channel = try server.channel()
      #expect(try await channel.test("X").response() == Data([1, 2, 3]))
    }
  }

  @Test func `calls succeed at a server that never acknowledges SETTINGS`() async throws {
    let steps: [Step] = [.preface, .send(Bytes.settings())]
    let answers: [Step] = (0..<5).flatMap { index -> [Step] in
      let stream = UInt32(2 * index + 1)
      return [.wait(.headers, stream: stream), .send(Bytes.answer(stream: stream))]
    }
    try await HostileServer.once(steps + answers) { server in
      let channel = try server.channel()
      for _ in 0..<5 { #expect(try await channel.test("X").response().isEmpty) }
      #expect(server.connectionCount == 1)
    }
  }
}
