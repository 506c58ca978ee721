import LoopbackSupport
import SQBasics
import SQHTTP2
import TestSupport
import Testing

@testable import SQLoopbackHTTP2

/// How the server passes on requests and their content, and sends answers.
@Suite(.timeLimit(.minutes(1))) struct ExchangeTests {
  @Test func `a handler gets the request's fields first and its content later`() async throws {
    try await KeepingServer.running { server in
      let client = try server.connect()
      client.ask(1, "/a", ends: false)
      let exchange = try await server.exchange(0)
      #expect(exchange[":path"] == "/a" && exchange[":method"] == "POST")
      #expect(exchange.content.current == nil)
      client.write([1, 2], to: 1, ends: false)
      client.write([3], to: 1)
      #expect(await exchange.content.value() == .whole([1, 2, 3]))
      exchange.answer("hello")
      let answer = try await client.wholeAnswer(1)
      #expect(answer[":status"] == "200" && answer.content == Array("hello".utf8))
      #expect(answer.isComplete && answer.resetCode == nil)
      try await exchange.closed()
    }
  }

  @Test func `a response before the end of the request resets the stream with NO_ERROR`()
    async throws
  {
    try await KeepingServer.running { server in
      let client = try server.connect()
      for (index, hasContent) in [true, false].enumerated() {
        let stream = UInt32(2 * index + 1)
        client.ask(stream, ends: false)
        let exchange = try await server.exchange(index)
        if hasContent {
          exchange.answer("no")
        } else {
          exchange.respond(HeaderBlock([":status": "400"]), hasContent: false)
        }
        try await eventually("the stream is reset") { client.answer(stream).resetCode != nil }
        let answer = client.answer(stream)
        #expect(answer.isComplete && answer.resetCode == HTTP2ErrorCode.noError.rawValue)
        #expect(await exchange.content.value() == .cut)
        // The rest of the content is already on its way and must be harmless.
        client.write([UInt8](repeating: 0, count: 1000), to: stream)
      }
      client.ask(5)
      try await server.exchange(2).answer("yes")
      #expect(try await client.wholeAnswer(5).content == Array("yes".utf8))
    }
  }

  @Test func `trailers end a request and do not change its fields or content`() async throws {
    try await KeepingServer.running { server in
      let client = try server.connect()
      client.ask(1, "/a", ends: false)
      client.write([7], to: 1, ends: false)
      client.open(1, [("path", "/b")], ends: true)
      let exchange = try await server.exchange(0)
      #expect(await exchange.content.value() == .whole([7]))
      #expect(exchange["path"] == nil && server.count == 1)
    }
  }

  @Test func `content beyond the limit is reported at once and not kept`() async throws {
    try await KeepingServer.running {
      $0.contentBytes = 1000
    } _: { server in
      let client = try server.connect()
      client.ask(1, ends: false)
      client.write([UInt8](repeating: 1, count: 1001), to: 1, ends: false)
      let exchange = try await server.exchange(0)
      #expect(await exchange.content.value() == .tooLarge)
      exchange.answer("too much")
      #expect(try await client.wholeAnswer(1).content == Array("too much".utf8))
      client.ask(3, ends: false)
      client.write([UInt8](repeating: 1, count: 1000), to: 3)
      guard case .whole(let content) = await (try server.exchange(1)).content.value() else {
        Issue.record("content of exactly the limit was refused")
        return
      }
      #expect(content.count == 1000)
    }
  }

  @Test func `the unfinished contents of one connection share a limit`() async throws {
    try await KeepingServer.running {
      $0.connectionBytes = 3000
    } _: { server in
      let client = try server.connect()
      let piece = [UInt8](repeating: 1, count: 1000)
      for stream: UInt32 in [1, 3, 5, 7] {
        client.ask(stream, ends: false)
        client.write(piece, to: stream, ends: false)
      }
      #expect(await (try server.exchange(3)).content.value() == .tooLarge)
      // A finished request and a reset one each free capacity for another request.
      client.write([], to: 1)
      #expect(await (try server.exchange(0)).content.value() == .whole(piece))
      client.reset(3)
      #expect(await (try server.exchange(1)).content.value() == .cut)
      for (index, stream) in [(4, 9), (5, 11)] as [(Int, UInt32)] {
        client.ask(stream, ends: false)
        client.write(piece, to: stream)
        #expect(await (try server.exchange(index)).content.value() == .whole(piece))
      }
      client.write(piece, to: 5)
      #expect(await (try server.exchange(2)).content.value() == .whole(piece + piece))
    }
  }

  @Test func `drained() waits until the client has accepted the response's content`() async throws {
    try await KeepingServer.running { server in
      let client = try server.connect()
      client.ask(1)
      let exchange = try await server.exchange(0)
      exchange.respond([":status": "200"])
      #expect(await exchange.drained(), "a response without content has nothing left to send")
      exchange.write([UInt8](repeating: 2, count: 100_000))
      let isDrained = OneShot<Bool>()
      let waiting = Task { isDrained.resolve(await exchange.drained()) }
      // A client that never enlarges its initial window accepts 65,535 bytes (RFC 9113, section
      // 6.9.2).
      try await eventually("the window is used up") { client.answer(1).content.count == 65_535 }
      #expect(isDrained.current == nil)
      client.grant(100_000, to: 1)
      #expect(await isDrained.value() == true)
      _ = await waiting.value
      exchange.end()
      #expect(try await client.wholeAnswer(1).content.count == 100_000)
    }
  }

  @Test(arguments: [true, false])
  func `a waiting handler learns that the client has reset the stream or left`(resets: Bool)
    async throws
  {
    try await KeepingServer.running { server in
      let client = try server.connect()
      client.ask(1)
      let exchange = try await server.exchange(0)
      exchange.respond([":status": "200"])
      exchange.write([UInt8](repeating: 2, count: 100_000))
      async let isDrained = exchange.drained()
      try await eventually("the window is used up") { client.answer(1).content.count == 65_535 }
      if resets { client.reset(1) } else { client.leave() }
      #expect(await isDrained == false)
      try await exchange.closed()
      #expect(await exchange.drained() == false)
    }
  }

  @Test
  func `an answer for an earlier connection does not reach a later one on the same descriptor`()
    async throws
  {
    try await KeepingServer.running { server in
      let client = try server.connect()
      client.ask(1)
      let exchange = try await server.exchange(0)
      // An exchange of an earlier connection whose socket had this connection's descriptor number.
      let place = HTTP2ServerConnection.Place(
        socket: exchange.place.socket, number: exchange.place.number - 1)
      let late = HTTP2Exchange(server.server, place, 1, fields: exchange.fields)
      late.answer("secret")
      exchange.answer("mine")
      #expect(try await client.wholeAnswer(1).content == Array("mine".utf8))
    }
  }
}
