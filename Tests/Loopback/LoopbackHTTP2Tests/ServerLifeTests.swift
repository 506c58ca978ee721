import Glibc
import LoopbackSupport
import SQBasics
import SQHTTP2
import SQLoopback
import TestSupport
import Testing

@testable import SQLoopbackHTTP2

/// How a server and its connections stop.
@Suite(.timeLimit(.minutes(1))) struct ServerLifeTests {
  @Test func `a graceful stop finishes open requests and accepts no new ones`() async throws {
    try await KeepingServer.running { server in
      let (client, idle) = (try server.connect(), try server.connect())
      client.ask(1)
      let exchange = try await server.exchange(0)
      idle.ask(1)
      try await server.exchange(1).answer("done")
      _ = try await idle.wholeAnswer(1)
      let stopping = Task { await server.server.stop(within: .seconds(Int64.max) * 18) }
      #expect(try await client.goAway() == HTTP2ErrorCode.noError.rawValue)
      #expect(try await idle.goAway() == HTTP2ErrorCode.noError.rawValue)
      try await idle.ended()
      // Another test's server may have taken the port.
      let late = try? server.connect()
      late?.ask(1)
      client.ask(3)
      exchange.answer("in time")
      #expect(try await client.wholeAnswer(1).content == Array("in time".utf8))
      try await client.ended()
      await stopping.value
      late?.leave()
      #expect(server.count == 2 && client.answer(3).sections == 0)
    }
  }

  @Test(arguments: [Duration.zero, .milliseconds(50), nil])
  func `a stop ends open requests when its grace period is over`(grace: Duration?) async throws {
    try await KeepingServer.running { server in
      let client = try server.connect()
      client.ask(1)
      let exchange = try await server.exchange(0)
      client.ask(3, ends: false)
      let incomplete = try await server.exchange(1)
      if let grace { await server.server.stop(within: grace) } else { server.server.stop() }
      #expect(exchange.whenClosed.isRaised && incomplete.whenClosed.isRaised)
      #expect(incomplete.content.current == .cut)
      try await client.ended()
      exchange.answer("too late")
      // A second stop has nothing left to do.
      await server.server.stop(within: .seconds(50))
      server.server.stop()
    }
  }

  @Test func `a stopped server frees its port`() async throws {
    let server = try HTTP2Server { $0.reset(.cancel) }
    #expect(throws: LoopbackError.portInUse(server.port)) {
      try HTTP2Server(port: server.port) { _ in }
    }
    await server.stop(within: .zero)
    // Another test's server may have taken the port for a while.
    let next = try await eventually("the port is free") {
      try? HTTP2Server(port: server.port) { _ in }
    }
    next.stop()
  }

  @Test func `only a connection without a request is closed after the idle time`() async throws {
    try await KeepingServer.running {
      $0.idleTime = .milliseconds(20)
    } _: { server in
      // On a busy machine, a connection may be closed before its request arrives.
      let busy = try await eventually("a request arrives in time") {
        () async throws -> RawHTTP2Client? in
        let client = try server.connect()
        client.ask(1)
        try await eventually("the request arrives, or its connection is closed") {
          server.count > 0 || client.hasEnded
        }
        return server.count > 0 ? client : nil
      }
      let exchange = try await server.exchange(0)
      // The first client sends nothing, the second only the greeting, the third an unfinished
      // header section.
      let silent = try server.connect(greets: false)
      let greeting = try server.connect()
      let unfinished = try server.connect()
      unfinished.send(RawHTTP2Client.frame(1, 0, 1, RawHTTP2Client.block([(":method", "GET")])))
      try await silent.ended()
      try await greeting.ended()
      try await unfinished.ended()
      #expect(try await greeting.goAway() == HTTP2ErrorCode.noError.rawValue)
      #expect(!busy.hasEnded && server.count == 1)
      exchange.answer("after a long time")
      #expect(try await busy.wholeAnswer(1).isComplete)
      try await busy.ended()
    }
  }

  @Test func `a connection whose client takes no bytes is closed when its time is over`() throws {
    let server = try HTTP2Server { _ in }
    defer { server.stop() }
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
    defer { for end in ends { close(end) } }
    let bytes = [UInt8](repeating: 0, count: 65_536)
    while write(ends[0], bytes, bytes.count) > 0 {}
    let connection = try #require(
      HTTP2ServerConnection(
        HTTP2ServerConnection.Place(socket: ends[0], number: 1), server: server,
        limits: HTTP2ServerLimits()))
    connection.flush()
    #expect(!connection.isClosed)
    connection.timeOut()
    connection.flush()
    #expect(connection.isClosed, "its deadline would stay in the past")
  }

  @Test func `a new connection above the limit replaces the one that was idle longest`()
    async throws
  {
    try await KeepingServer.running {
      $0.connections = 3
    } _: { server in
      let busy = try server.connect()
      busy.ask(1)
      let exchange = try await server.exchange(0)
      let older = try server.connect()
      older.ask(1)
      try await server.exchange(1).answer("a")
      _ = try await older.wholeAnswer(1)
      let newer = try server.connect()
      newer.ask(1)
      try await server.exchange(2).answer("b")
      _ = try await newer.wholeAnswer(1)
      let next = try server.connect()
      next.ask(1)
      let last = try await server.exchange(3)
      try await older.ended()
      #expect(!newer.hasEnded && !busy.hasEnded)
      newer.ask(3)
      _ = try await server.exchange(4)
      // Every connection is busy now.
      let excess = try server.connect()
      try await excess.ended()
      exchange.answer("c")
      last.answer("d")
      #expect(try await busy.wholeAnswer(1).isComplete)
      #expect(try await next.wholeAnswer(1).isComplete)
    }
  }
}
