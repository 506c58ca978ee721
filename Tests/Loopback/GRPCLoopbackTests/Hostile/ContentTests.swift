import Foundation
import GRPCValueSupport
import SequencingOAuthGRPC
import TestSupport
import Testing

@testable import GRPCSupport

/// Content that is not a message, is too large or arrives in unusual pieces.
@Suite(.timeLimit(.minutes(1))) struct ContentTests {
  /// What follows the headers of an answer, and the status of the call.
  static let contents: [(name: String, bytes: [UInt8], status: RPCStatus)] = [
    ("a prefix of 4 GB", Bytes.data([0, 0xFF, 0xFF, 0xFF, 0xFF]), .resourceExhausted),
    ("a compressed message of 4 GB", Bytes.data([1, 0xFF, 0xFF, 0xFF, 0xFF]), .resourceExhausted),
    (
      "a prefix of 4 GB, and the end", Bytes.data([0, 255, 255, 255, 255], .endStream),
      .resourceExhausted
    ),
    ("a wrong flag", Bytes.data([2, 0, 0, 0, 0]), .internal),
    ("no message", Bytes.trailers(), .internal),
    ("no trailers", Bytes.data(Bytes.message(), .endStream), .unknown),
    ("a part of a prefix", Bytes.data([0, 0]) + Bytes.trailers(), .internal),
    ("a part of a message", Bytes.data([0, 0, 0, 0, 2, 1]) + Bytes.trailers(), .internal),
    ("damaged compression", Bytes.data([1, 0, 0, 0, 1, 1]) + Bytes.trailers(), .internal),
  ]

  @Test(arguments: contents)
  func `content that is not a message fails only its call`(
    name: String, bytes: [UInt8], status: RPCStatus
  ) async throws {
    try await HostileServer.once(.afterRequest(.send(Bytes.head() + bytes))) { server in
      let channel = try server.channel()
      await rpcFailure(status) { try await channel.test("X").response() }
      #expect(try await channel.test("Good").response().isEmpty)
      #expect(server.connectionCount == 1)
    }
  }

  @Test(arguments: [RPCCall.Kind.serverStreaming, .bidirectional])
  func `a message that is too large ends its stream`(kind: RPCCall.Kind) async throws {
    let bytes = Bytes.head() + Bytes.data(Bytes.message([7])) + Bytes.data([0, 255, 255, 255, 255])
    try await HostileServer.once(.afterRequest(.send(bytes))) { server in
      let channel = try server.channel()
      await rpcFailure(.resourceExhausted) { try await channel.outcome(of: kind) }
      #expect(try await channel.test("Good").response().isEmpty)
      #expect(server.connectionCount == 1 && server.log().reset() == 8)
    }
  }

  @Test func `a second message fails a call that expects one message`() async throws {
    let bytes = Bytes.head() + Bytes.data(Bytes.message() + Bytes.message()) + Bytes.trailers()
    try await HostileServer.once(.afterRequest(.send(bytes))) { server in
      await rpcFailure(.internal) { try await server.channel().test("X").response() }
    }
  }

  @Test func `a message may arrive in DATA frames of one byte or zero bytes`() async throws {
    let content = (0..<5000).map { UInt8(truncatingIfNeeded: $0) }
    let frames = Bytes.message(content).flatMap { Bytes.data([$0]) + Bytes.data([]) }
    let bytes = Bytes.head() + frames + Bytes.trailers()
    try await HostileServer.once(.afterRequest(.send(bytes))) { server in
      let channel = try server.channel()
      #expect(try await channel.test("X").response() == Data(content))
    }
  }

  @Test func `tens of thousands of messages can wait for their reader`() async throws {
    let count = 50_000
    let frames = [UInt8](repeatElement(Bytes.data(Bytes.message()), count: count).joined())
    let bytes = Bytes.head() + frames + Bytes.trailers()
    try await HostileServer.once(.afterRequest(.send(bytes))) { server in
      let call = try server.channel().test("X", kind: .serverStreaming)
      try call.start()
      try await eventually("all messages have arrived") { call.status != nil }
      var read = 0
      for try await message in call.messages {
        #expect(message.isEmpty)
        read += 1
      }
      #expect(read == count && call.status == .ok)
    }
  }

  @Test func `a call with an endless HTML response is reset`() async throws {
    let head = Bytes.headers([":status": "200", "content-type": "text/html"])
    let part: [Step] = [
      .flood(Bytes.data([UInt8](repeating: 0x20, count: 16_384)), times: 9),
      .wait(.windowUpdate, stream: 1),
    ]
    let page = repeatElement(part, count: 1000).joined()
    try await HostileServer.once(.afterRequest(.send(head)).dropLast() + page) { server in
      let channel = try server.channel()
      let error = await rpcFailure(.unknown) { try await channel.test("X").response() }
      #expect(error?.message.contains("not gRPC") == true)
      try await eventually("the server gets the reset") { server.log().reset() == 8 }
    }
  }

  @Test(arguments: [100, 199, 200, 204, 302, 400, 401, 403, 404, 429, 500, 503, 600, 999])
  func `the HTTP status of a response without content decides the call's gRPC status`(status: Int)
    async throws
  {
    let bytes = Bytes.headers([":status": "\(status)"], [.endHeaders, .endStream])
    try await HostileServer.once(.afterRequest(.send(bytes))) { server in
      let channel = try server.channel()
      let error = await rpcFailure { try await channel.test("X").response() }
      let expected: RPCStatus =
        switch status {
        case 100, 199, 400: .internal
        case 401: .unauthenticated
        case 403: .permissionDenied
        case 404: .unimplemented
        case 429, 503: .unavailable
        default: .unknown
        }
      #expect(error?.status == expected)
      #expect(error?.isFromServer == (status >= 200))
      #expect(try await channel.test("Good").response().isEmpty)
      #expect(server.connectionCount == 1)
    }
  }
}
