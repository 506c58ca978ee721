import Foundation
import GRPCValueSupport
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthGRPC
import TestSupport
import Testing

@testable import GRPCSupport

/// Streams with any number of messages, in one or both directions.
@Suite(.timeLimit(.minutes(1)), .requiresGRPCIO) struct StreamTests {
  @Test(arguments: ["3 2", "0 1", "1 0", "1000 100 gzip", "20000 1", "40 1000000"])
  func `a server's messages arrive in order`(request: String) async throws {
    try await GRPCServer.running { server in
      let call = try RPCChannel(server).test("Count", request, kind: .serverStreaming)
      var count = 0
      for try await message in call.messages {
        #expect(Int(message.text.prefix { $0 != "." }) == count)
        count += 1
      }
      #expect(count == Int(request.split(separator: " ")[0]))
      #expect(call.responseHeaders?["x-count"] == "\(count)")
      #expect(call.responseTrailers?["x-end"] == "yes" && call.status == .ok)
    }
  }

  @Test func `messages before an error status are delivered, and then the error is thrown`()
    async throws
  {
    try await GRPCServer.running { server in
      let call = try RPCChannel(server).test("Count", "3 5 fail", kind: .serverStreaming)
      var count = 0
      let error = await rpcFailure(.dataLoss) { for try await _ in call.messages { count += 1 } }
      #expect(count == 3 && error?.message == "in the middle")
      #expect(error?.metadata["x-count"] == "3")
    }
  }

  @Test func `a client that does not read slows the server down`() async throws {
    try await GRPCServer.running { server in
      let call = try RPCChannel(server).test("Count", "100000 10000", kind: .serverStreaming)
      var messages = call.messages.makeAsyncIterator()
      _ = try await messages.next()
      // The count of sent messages grows until every buffer on the way is full.
      var last = -1
      var unchanged = 0
      try await eventually("the server waits") {
        let sent = server.lines.count { $0.hasPrefix("SENT 100000") }
        unchanged = sent == last ? unchanged + 1 : 0
        last = sent
        return unchanged > 50
      }
      #expect(last < 100_000 / 64 / 2)
      call.cancel()
      await rpcFailure(.cancelled) { try await messages.next() }
    }
  }

  @Test func `leaving the loop over the messages cancels the call`() async throws {
    try await GRPCServer.running { server in
      let call = try RPCChannel(server).test("Count", "3 5 hang", kind: .serverStreaming)
      for try await message in call.messages {
        #expect(message.text.hasPrefix("0"))
        break
      }
      #expect(call.status == .cancelled)
      try await server.line(after: "ENDED Count")
    }
  }

  @Test func `a stream ends at its time limit`() async throws {
    try await GRPCServer.running { server in
      let channel = try RPCChannel(server)
      // The server reports the end only of calls that it has begun.
      _ = try await channel.test("Measure").response()
      let call = try channel.test("Count", "3 5 hang", kind: .serverStreaming)
      try call.setTimeout(.seconds(5))
      await rpcFailure(.deadlineExceeded) { for try await _ in call.messages {} }
      try await server.line(after: "ENDED Count")
    }
  }

  @Test func `closures receive each message and then the end of the stream`() async throws {
    try await GRPCServer.running { server in
      for (request, status) in [("100 5", RPCStatus?.none), ("3 5 fail", .dataLoss)] {
        let heard = Locked<[String]>([])
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let call = try RPCChannel(server).test("Count", request, kind: .serverStreaming)
        try call.start { message in
          heard.withLock { $0.append(message.text) }
        } completion: { result in
          if case .failure(let error) = result {
            heard.withLock { $0.append("\(error.status)") }
          } else {
            heard.withLock { $0.append("end") }
          }
          end.yield()
        }
        for await _ in ends { break }
        let words = heard.withLock(\.self)
        #expect(words.first == "0....")
        #expect(words.last == (status.map { "\($0)" } ?? "end"))
        #expect(words.count == (status == nil ? 101 : 4))
      }
    }
  }

  @Test
  func `using a stream's functions on a unary call, or the reverse, throws and sends nothing`()
    async throws
  {
    try await HostileServer.running({ _ in .good }) { server in
      let channel = try server.channel()
      let unary = try channel.test("X")
      rpcFailure(.failedPrecondition) { try unary.start(onMessage: { _ in }, completion: { _ in }) }
      await rpcFailure(.failedPrecondition) { try await unary.send(Data()) }
      rpcFailure(.failedPrecondition) { try unary.finishSending() }
      await rpcFailure(.failedPrecondition) { for try await _ in unary.messages {} }
      let stream = try channel.test("X", kind: .serverStreaming)
      await rpcFailure(.failedPrecondition) { try await stream.response() }
      // The server has received this call after all that was sent before.
      _ = try await channel.test("X").response()
      #expect(server.connectionCount == 1 && server.log().counts[.headers] == 1)
    }
  }

  @Test func `messages are decoded, and an undecodable message ends the call`() async throws {
    let bytes: [UInt8] = [0, 0, 0, 0, 3, 2 << 3 | 2, 1, 97, 0, 0, 0, 0, 1, 255]
    try await ScriptedServer.answering(.grpc(bytes)) { server in
      let call = try server.channel().test("X", kind: .serverStreaming)
      var names: [String] = []
      await rpcFailure(.internal) {
        for try await message in call.messages(as: TestResponseCodec()) {
          names.append(message.username)
        }
      }
      #expect(names == ["a"])
    }
  }
}

/// Calls that send any number of messages to the server.
@Suite(.timeLimit(.minutes(1)), .requiresGRPCIO) struct UpstreamTests {
  @Test func `a client streaming call sends many messages`() async throws {
    try await GRPCServer.running { server in
      let call = try RPCChannel(server).test("Total", kind: .clientStreaming)
      for index in 0..<500 { try await call.send(Data(count: index * 10)) }
      try call.finishSending()
      #expect(try await call.response().text == "500 1247500")
    }
  }

  @Test func `messages alternate in both directions`() async throws {
    try await GRPCServer.running { server in
      let call = try RPCChannel(server).test("Talk", kind: .bidirectional)
      var messages = call.messages.makeAsyncIterator()
      for index in 0..<200 {
        try await call.send(Data("\(index)".utf8))
        #expect(try await messages.next()?.text == "\(index)")
      }
      try call.finishSending()
      #expect(try await messages.next() == nil)
      #expect(call.status == .ok && call.responseHeaders?["x-hello"] == "yes")
    }
  }

  @Test(arguments: ["stop", "fail"])
  func `a server can end a bidirectional call before the client has finished sending`(word: String)
    async throws
  {
    try await GRPCServer.running { server in
      let call = try RPCChannel(server).test("Talk", kind: .bidirectional)
      var messages = call.messages.makeAsyncIterator()
      try await call.send(Data("a".utf8))
      #expect(try await messages.next()?.text == "a")
      try await call.send(Data(word.utf8))
      if word == "stop" {
        #expect(try await messages.next() == nil)
      } else {
        let error = await rpcFailure(.outOfRange) { try await messages.next() }
        #expect(error?.message == "too far")
      }
    }
  }

  @Test(arguments: ["stop", "fail", "fail at once"])
  func `a server can answer a client streaming call before the client's last message`(word: String)
    async throws
  {
    try await GRPCServer.running { server in
      let call = try RPCChannel(server).test("Total", kind: .clientStreaming)
      if word != "fail at once" { try await call.send(Data("a".utf8)) }
      try await call.send(Data(word.prefix(4).utf8))
      if word == "stop" {
        #expect(try await call.response().text == "stopped")
      } else {
        await rpcFailure(.outOfRange) { try await call.response() }
      }
      await rpcFailure { try await call.send(Data("behind the end".utf8)) }
    }
  }
}
