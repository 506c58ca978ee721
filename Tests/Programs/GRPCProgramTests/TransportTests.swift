import Foundation
import GRPCValueSupport
import LoopbackSupport
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthGRPC
import TestSupport
import Testing

@testable import GRPCSupport

/// Messages of different sizes, and servers that disappear.
@Suite(.timeLimit(.minutes(2)), .requiresGRPCIO) struct TransportTests {
  @Test(arguments: [0, 1, 16_384, 70_000, 4 << 20])
  func `messages of 0 bytes to 4 MiB are sent and received`(size: Int) async throws {
    try await GRPCServer.running { server in
      let channel = try RPCChannel(server)
      #expect(try await channel.test("Sized", "\(size)").response() == Data(count: size))
      let call = try channel.call(method("Measure"), request: Data(count: size))
      #expect(try await call.response().text == "\(size)")
    }
  }

  @Test func `a message over the limit is rejected in both directions`() async throws {
    try await GRPCServer.running { server in
      let size = 4 << 20
      let channel = try RPCChannel(server)
      await rpcFailure(.resourceExhausted) {
        try await channel.test("Sized", "\(size + 1)").response()
      }
      await rpcFailure(.resourceExhausted) {
        try await channel.test("Sized", "\(size + 1) gzip").response()
      }
      await rpcFailure(.resourceExhausted) {
        for try await _ in try channel.test(
          "Count", "2 \(size + 1)", kind: .serverStreaming
        ).messages {}
      }
      let large = try channel.call(method("Measure"), request: Data(count: size + 1))
      await rpcFailure(.resourceExhausted) { try await large.response() }
      try await server.caughtUp()
      #expect(server.count(of: "Measure") == 0)
    }
  }

  @Test func `the message limits can be changed`() async throws {
    try await GRPCServer.running { server in
      var options = RPCOptions()
      options.maximumResponseBytes = 20 << 20
      options.maximumRequestBytes = 20 << 20
      let channel = try RPCChannel(server, options: options)
      let size = 12 << 20
      #expect(try await channel.test("Sized", "\(size)").response().count == size)
      let call = try channel.call(method("Measure"), request: Data(count: size))
      #expect(try await call.response().text == "\(size)")
      options.maximumResponseBytes = 10
      let small = try RPCChannel(server, options: options)
      #expect(try await small.test("Sized", "10").response().count == 10)
      await rpcFailure(.resourceExhausted) { try await small.test("Sized", "11").response() }
    }
  }

  @Test func `calls with gzip compression in both directions succeed, and few bytes are sent`()
    async throws
  {
    try await GRPCServer.running { server in
      let relay = try TCPRelay(to: UInt16(try #require(server.url.port)))
      let url = try #require(URL(string: "http://127.0.0.1:\(relay.port)"))
      var options = RPCOptions()
      options.compression = .gzip
      let channel = try RPCChannel(url: url, options: options, configuration: .direct)
      let size = 1_000_000
      let call = try channel.call(method("Measure"), request: Data(count: size))
      #expect(try await call.response().text == "\(size)")
      let text = String(repeating: "abc", count: 1000)
      #expect(try await channel.test("Echo", text).response().text == text)
      #expect(try await channel.test("Sized", "\(size) gzip").response() == Data(count: size))
      #expect(relay.counters.bytesToServer < size / 10 && relay.counters.bytesToClients < size / 10)
      // Without compression, the same message has all its bytes.
      let before = relay.counters.bytesToClients
      #expect(try await channel.test("Sized", "\(size)").response() == Data(count: size))
      #expect(relay.counters.bytesToClients - before >= size / 2)
    }
  }

  @Test(arguments: [false, true])
  func `many simultaneous calls are all answered`(isSecure: Bool) async throws {
    let certificates = isSecure ? try await Certificates() : nil
    try await GRPCServer.running(certificates: certificates) { server in
      let channel = try RPCChannel(
        url: server.url, configuration: try .trusting(certificates))
      for _ in 0..<3 {
        try await withThrowingTaskGroup(of: Bool.self) { group in
          for index in 0..<64 {
            group.addTask {
              try await channel.test("Echo", "\(index)").response().text == "\(index)"
            }
          }
          for try await isRight in group { #expect(isRight) }
        }
      }
    }
  }

  @Test func `more calls than a connection allows are all answered`() async throws {
    try await GRPCServer.running(options: ["--streams", "5"]) { server in
      let channel = try RPCChannel(server)
      try await withThrowingTaskGroup(of: Bool.self) { group in
        for index in 0..<64 {
          group.addTask { try await channel.test("Echo", "\(index)").response().text == "\(index)" }
        }
        for try await isRight in group { #expect(isRight) }
      }
    }
  }

  @Test func `an untrusted server is not called`() async throws {
    let certificates = try await Certificates()
    try await GRPCServer.running(certificates: certificates) { server in
      let error = await rpcFailure(.unavailable) {
        try await RPCChannel(server, credential: .accessToken("T")).test("Echo").response()
      }
      try await server.caughtUp()
      #expect(error?.oauthError?.code == .tlsFailed && server.count(of: "Echo") == 0)
    }
  }

  @Test func `a call to a closed port fails with UNAVAILABLE`() async throws {
    let port = try ClosedPort()
    let url = try #require(URL(string: "http://127.0.0.1:\(port.number)"))
    let channel = try RPCChannel(url: url, configuration: .direct)
    await rpcFailure(.unavailable) { try await channel.test("Echo").response() }
  }

  @Test func `repeated calls to a closed port all fail with UNAVAILABLE`() async throws {
    let port = try ClosedPort()
    let url = try #require(URL(string: "http://127.0.0.1:\(port.number)"))
    let channel = try RPCChannel(url: url, configuration: .direct)
    for _ in 0..<4 { await rpcFailure(.unavailable) { try await channel.test("Echo").response() } }
  }

  @Test func `after a reconnection, a call still ends at its time limit`() async throws {
    try await GRPCServer.running { server in
      let channel = try RPCChannel(server)
      _ = try await channel.test("Echo").response()
      server.drain()
      try await server.line(after: "STOPPED")
      await rpcFailure(.unavailable) { try await channel.test("Echo").response() }
      server.restart()
      try await eventually("the server is back") {
        server.lines.count { $0.hasPrefix("PORT=") } == 2
      }
      // This call waits for the end of the delay after the failure.
      _ = try await channel.test("Echo").response()
      // The server also knows the time limit. It is frozen, so that it cannot end the call first.
      try await server.freeze()
      let call = try channel.test("Echo")
      try call.setTimeout(.milliseconds(200))
      let error = await rpcFailure(.deadlineExceeded) { try await call.response() }
      #expect(error?.isFromServer == false)
      server.thaw()
    }
  }

  @Test func `open calls fail with UNAVAILABLE when the server is killed`() async throws {
    try await GRPCServer.running { server in
      let channel = try RPCChannel(server)
      let unary = try channel.test("Hang", "unary")
      let stream = try channel.test("Count", "3 10 hang", kind: .serverStreaming)
      var messages = stream.messages.makeAsyncIterator()
      for _ in 0..<3 { _ = try await messages.next() }
      try unary.start()
      try await server.line(after: "HANGS unary")
      server.kill()
      await rpcFailure(.unavailable) { try await unary.response() }
      await rpcFailure(.unavailable) { try await messages.next() }
    }
  }

  @Test func `calls succeed again after the server is restarted`() async throws {
    try await GRPCServer.running { server in
      let channel = try RPCChannel(server)
      for _ in 0..<3 { _ = try await channel.test("Echo").response() }
      server.drain()
      try await server.line(after: "STOPPED")
      await rpcFailure(.unavailable) { try await channel.test("Echo").response() }
      let before = server.lines.count { $0.hasPrefix("PORT=") }
      server.restart()
      try await eventually("the server is back") {
        server.lines.count { $0.hasPrefix("PORT=") } > before
      }
      #expect(try await channel.test("Echo", "again").response().text == "again")
    }
  }

  @Test func `a stream that is open when the server shuts down is completed`() async throws {
    try await GRPCServer.running { server in
      let channel = try RPCChannel(server)
      let stream = try channel.test("Count", "2000 1000", kind: .serverStreaming)
      var messages = stream.messages.makeAsyncIterator()
      _ = try await messages.next()
      server.drain()
      var count = 1
      while await (try? messages.next()) != nil { count += 1 }
      #expect(count == 2000 && stream.status == .ok)
      try await server.line(after: "STOPPED")
    }
  }
}
