import Foundation
import LoopbackSupport
import OAuthSandbox
import OAuthSandboxGRPC
import TestSupport
import Testing

/// Calls that no gRPC client makes, built byte by byte.
@Suite(.timeLimit(.minutes(1))) struct HostileCallTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var method = Method.unaryCall
    let content: [UInt8]
    var fields: [(String, String)] = []
    /// The expected gRPC status of the call.
    let status: Int
    var message: String?

    init(
      _ name: String, method: String = Method.unaryCall, _ content: [UInt8],
      fields: [(String, String)] = [], _ status: Int, _ message: String? = nil
    ) {
      testDescription = name
      self.method = method
      self.content = content
      self.fields = fields
      self.status = status
      self.message = message
    }
  }

  private static func frame(_ message: [UInt8], flag: UInt8 = 0) -> [UInt8] {
    [flag, 0, 0, 0, UInt8(message.count)] + message
  }

  @Test(arguments: [
    Row("right", frame([0x20, 1]), 0),
    Row("no message", [], 12), Row("two messages", frame([]) + frame([]), 12),
    Row("part of a prefix", [0, 0, 0], 13), Row("a cut message", [0, 0, 0, 0, 9, 1], 13),
    Row("a wrong flag", frame([], flag: 2), 13), Row("text", Array("hello world".utf8), 13),
    Row("a huge length", [0, 255, 255, 255, 255, 1], 8),
    Row("compressed in no known way", frame([1, 2, 3], flag: 1), 13),
    Row("compressed", frame([1, 2, 3], flag: 1), fields: [("grpc-encoding", "gzip")], 12),
    Row("not compressed after all", frame([]), fields: [("grpc-encoding", "gzip")], 0),
    Row("identity", frame([], flag: 1), fields: [("grpc-encoding", "identity")], 13),
    Row("a cut field", frame([0x20]), 13), Row("a field of kind 3", frame([0x23]), 13),
    Row("field 0", frame([0, 1]), 13), Row("a cut text", frame([0x0A, 5, 1]), 13),
    Row("a number without end", frame(Array(repeating: 0x80, count: 11)), 13),
    Row("a number of eleven bytes", frame([0x20] + Array(repeating: 0xFF, count: 10) + [1]), 13),
    Row(
      "a text longer than memory",
      frame([0x0A] + Array(repeating: 0xFF, count: 9) + [0x01]), 13),
    Row("a field beyond all numbers", frame([0xF8, 0xFF, 0xFF, 0xFF, 0xFF, 1, 1]), 13),
    Row("a short fixed number", frame([0x09, 1, 2, 3]), 13),
    Row("bytes", method: Method.stream, frame(Array(0...200)), 13),
    Row("bytes within", method: Method.stream, frame([0x12, 2, 0x08, 0x80]), 13),
    Row("a number for a message", method: Method.stream, frame([0x10, 1]), 0),
    Row("a malformed timeout", frame([]), fields: [("grpc-timeout", "1")], 13),
    Row("a timeout of nine digits", frame([]), fields: [("grpc-timeout", "123456789n")], 13),
    Row("a negative timeout", frame([]), fields: [("grpc-timeout", "-1S")], 13),
    Row("a timeout in weeks", frame([]), fields: [("grpc-timeout", "1w")], 13),
    Row("the longest timeout", frame([]), fields: [("grpc-timeout", "99999999H")], 0),
    Row(
      "no time", method: Method.stream, frame([0x12, 5, 0x10, 0xFF, 0xFF, 0xFF, 0x07]),
      fields: [("grpc-timeout", "0n")], 4),
    Row("another scheme", frame([]), fields: [("authorization", "Basic YTpi")], 16),
    Row("no scheme", frame([]), fields: [("authorization", "Bearer")], 16),
    Row("two tokens", frame([]), fields: [("authorization", "Bearer x")], 16),
    Row("another path", method: "/a", frame([]), 12),
    Row("a longer path", method: Method.unaryCall + "/", frame([]), 12),
    Row("an odd method", method: "/grpc.testing.TestService/%00\u{e9}", frame([]), 12),
  ])
  func `a malformed or unusual call gets the expected gRPC status`(row: Row) async throws {
    try await Fixture.running { fixture in
      let client = try RawHTTP2Client(port: fixture.port)
      let token = fixture.sandbox.issueTokens().accessToken
      let isAlone = row.fields.contains { $0.0 == "authorization" && $0.1 != "Bearer x" }
      client.call(
        1, row.method, row.content,
        row.fields + (isAlone ? [] : [("authorization", "Bearer " + token)]))
      let answer = try await client.wholeAnswer(1)
      #expect(answer[":status"] == "200" && answer["content-type"] == "application/grpc")
      #expect(answer["grpc-status"] == "\(row.status)", "\(answer.fields)")
      #expect(answer.isComplete && [nil, 0].contains(answer.resetCode))
      if row.status == 0 {
        #expect(answer.sections == 2 && answer["grpc-message"] == nil)
      } else {
        // If a call fails before its first message, the answer has only one block of headers.
        #expect(answer.sections == 1 && answer["grpc-message"]?.isEmpty == false)
      }
      #expect((answer["www-authenticate"] != nil) == (row.status == 16))
    }
  }

  @Test(arguments: [
    ("GET", "application/grpc", "405"), ("PUT", "application/grpc", "405"),
    ("POST", "text/plain", "415"), ("POST", "application/grpc-web", "415"),
    ("POST", "application/grpcx", "415"), ("POST", "", "415"), ("POST", "application/json", "415"),
  ])
  func `a request that is not gRPC gets HTTP status 405 or 415`(
    method: String, type: String, status: String
  ) async throws {
    try await Fixture.running { fixture in
      let client = try RawHTTP2Client(port: fixture.port)
      client.open(
        1,
        [
          (":method", method), (":scheme", "http"), (":path", Method.unaryCall),
          (":authority", "a"), ("content-type", type),
        ])
      // The server does not wait for the rest of a request that is not gRPC.
      let answer = try await client.wholeAnswer(1)
      #expect(answer[":status"] == status && answer["grpc-status"] == nil)
      #expect(answer["allow"] == (status == "405" ? "POST" : nil))
      #expect(answer["accept"] == (status == "415" ? "application/grpc" : nil))
      #expect(answer.content == Array("This server speaks gRPC only.\n".utf8))
    }
  }

  @Test(arguments: [
    "application/grpc", "application/grpc+proto", "Application/gRPC;charset=utf-8",
    "application/grpc ; charset=utf-8",
  ])
  func `a gRPC content type may have a suffix, parameters and capitals`(type: String) async throws {
    try await Fixture.running { fixture in
      let client = try RawHTTP2Client(port: fixture.port)
      client.open(
        1,
        [
          (":method", "POST"), (":scheme", "http"), (":path", Method.unaryCall),
          (":authority", "a"), ("content-type", type),
        ])
      #expect(try await client.wholeAnswer(1)["grpc-status"] == "16")
    }
  }

  @Test func `the deadline ends a waiting call at any point`() async throws {
    try await Fixture.running { fixture in
      let client = try RawHTTP2Client(port: fixture.port)
      let token = ("authorization", "Bearer " + fixture.sandbox.issueTokens().accessToken)
      let timeout = ("grpc-timeout", "100m")
      // The first call waits for its message, the second call for its first answer, and the third
      // call for its second answer.
      client.begin(1, Method.unaryCall, [token, timeout])
      let pause = streamRequest([(0, 2_000_000_000)])
      client.call(3, Method.stream, Self.frame([UInt8](pause)), [token, timeout])
      // On a busy machine, the first answer may take a while.
      let later = streamRequest([(3, 0), (0, 2_000_000_000)])
      client.call(
        5, Method.stream, Self.frame([UInt8](later)), [token, ("grpc-timeout", "10S")])
      for stream: UInt32 in [1, 3, 5] {
        let answer = try await client.wholeAnswer(stream)
        #expect(answer["grpc-status"] == "4" && answer.isComplete)
        #expect(answer.sections == (stream == 5 ? 2 : 1))
        #expect(answer.content.isEmpty == (stream != 5))
      }
      try await eventually("the server wants no more of the message") {
        client.answer(1).resetCode == 0
      }
    }
  }

  @Test func `clients that disconnect during a call leave the server usable`() async throws {
    try await Fixture.running { fixture in
      let token = ("authorization", "Bearer " + fixture.sandbox.issueTokens().accessToken)
      let message = Self.frame([UInt8](streamRequest([(1 << 20, 0), (1 << 20, 0)])))
      for round in 0..<20 {
        let client = try RawHTTP2Client(port: fixture.port)
        client.begin(1, Method.stream, [token])
        client.write(Array(message.prefix(round % 7)), to: 1, ends: false)
        client.call(3, Method.stream, message, [token])
        if round.isMultiple(of: 2) {
          try await eventually("the first bytes arrive") { !client.answer(3).content.isEmpty }
          client.reset(3)
        }
        client.leave()
      }
      let client = try RawHTTP2Client(port: fixture.port)
      client.call(1, Method.unaryCall, Self.frame([0x20, 1]), [token])
      #expect(try await client.wholeAnswer(1).content == [0, 0, 0, 0, 7, 0x12, 5] + "alice".utf8)
      // Every call of the clients that left has ended.
      client.leave()
      // With an open call, the server would wait an hour, which is longer than the test may take.
      await fixture.server.stop(grace: .seconds(3600))
    }
  }
}

extension RawHTTP2Client {
  /// Sends the headers of a call.
  func begin(_ stream: UInt32, _ method: String, _ others: [(String, String)] = []) {
    open(
      stream,
      [
        (":method", "POST"), (":scheme", "http"), (":path", method), (":authority", "test"),
        ("content-type", "application/grpc"), ("te", "trailers"),
      ] + others)
  }

  /// Sends a complete call.
  func call(
    _ stream: UInt32, _ method: String, _ content: [UInt8], _ others: [(String, String)] = []
  ) {
    begin(stream, method, others)
    write(content, to: stream)
  }
}
