import Dispatch
import FoundationEssentials
import Glibc
import OAuthSandbox
import SQBasics
import SQLoopback
import TestSupport
import Testing

/// More connections than a server allows: those with a request take precedence over idle ones.
@Suite(.timeLimit(.minutes(1))) struct LoopbackCrowdTests {
  private let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

  private func server(
    connections: Int, handler: @escaping LoopbackServer.Handler = { _ in .text("served") }
  ) throws -> LoopbackServer {
    var limits = LoopbackLimits()
    limits.connections = connections
    limits.idleTime = .seconds(60)
    limits.requestTime = .seconds(60)
    return try LoopbackServer(limits: limits, handler: handler)
  }

  @Test(arguments: ["", "GET / HTTP/1.1\r\nHost: "])
  func `a new connection replaces the oldest one without a complete request`(
    start: String
  ) async throws {
    let server = try server(connections: 3)
    var idle: [LoopbackConnection] = []
    for _ in 0..<3 {
      let connection = try await LoopbackConnection(port: server.port)
      if !start.isEmpty { try await connection.send(start) }
      idle.append(connection)
    }
    let late = try await LoopbackConnection(port: server.port)
    try await late.send(get)
    #expect(try await late.receive(until: "served").status == 200)
    #expect(try await idle[0].receiveAll().isEmpty)
    #expect(server.turnedAway == 1)
    // The other idle connections are still open.
    try await idle[1].send(start.isEmpty ? get : "a\r\n\r\n")
    #expect(try await idle[1].receive(until: "served").status == 200)
    await server.stop()
  }

  @Test func `a hundred idle connections block no new client`() async throws {
    let server = try server(connections: 4)
    var idle: [LoopbackConnection] = []
    for _ in 0..<100 { idle.append(try await LoopbackConnection(port: server.port)) }
    let last = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    #expect(try await exchange(last, with: server).status == 200)
    #expect(server.turnedAway >= 97)
    await server.stop()
    withExtendedLifetime(idle) {}
  }

  @Test func `connections that only the server has closed do not use up the connection limit`()
    async throws
  {
    let server = try server(connections: 2)
    var lingering: [LoopbackConnection] = []
    for _ in 0..<3 {
      let connection = try await LoopbackConnection(port: server.port)
      try await connection.send("GET / HTTP/3.0\r\n")
      // The server has closed its side, and the client does not close its own.
      #expect(try await connection.receiveAll().isEmpty == false)
      lingering.append(connection)
    }
    let next = try await LoopbackConnection(port: server.port)
    try await next.send(get)
    #expect(try await next.receive(until: "served").status == 200)
    #expect(server.turnedAway == 0)
    await server.stop()
    withExtendedLifetime(lingering) {}
  }

  /// A barrier that blocks a server's only thread, as a busy machine can.
  private final class Barrier: Sendable {
    private let isOpen = DispatchSemaphore(value: 0)
    private let hasCome = OneShot<Void>()

    func pass() {
      hasCome.resolve(())
      isOpen.wait()
    }

    func holds() async { _ = await hasCome.value() }
    func open() { isOpen.signal() }
  }

  @Test func `a connection whose request has arrived is served and not closed as idle`()
    async throws
  {
    let barrier = Barrier()
    let server = try server(connections: 2) { request in
      if request.path == "/hold" {
        barrier.pass()
        return .text("held")
      }
      return .text("served")
    }
    let busy = try await LoopbackConnection(port: server.port)
    try await busy.send("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n")
    await barrier.holds()
    // The server accepts neither connection until its thread continues.
    let asking = try await LoopbackConnection(port: server.port)
    try await asking.send(get)
    let idle = try await LoopbackConnection(port: server.port)
    let idler = try await LoopbackConnection(port: server.port)
    try await Self.areWaiting(3, at: server.port)
    barrier.open()
    #expect(try await asking.receive(until: "served").status == 200)
    #expect(try await busy.receive(until: "held").status == 200)
    await server.stop()
    withExtendedLifetime((idle, idler)) {}
  }

  /// The number of connections that a port has and that no program has accepted yet.
  private static func waiting(at port: UInt16) throws -> Int? {
    // The rows of listeners (state 0A) name it as the length of the receive queue.
    let rows = try String(contentsOfFile: "/proc/net/tcp", encoding: .utf8).split(separator: "\n")
    let fields = rows.map { $0.split(separator: " ") }.first { fields in
      guard fields.count > 4, fields[3] == "0A" else { return false }
      return fields[1].split(separator: ":").last.flatMap { UInt16($0, radix: 16) } == port
    }
    return fields?[4].split(separator: ":").last.flatMap { Int($0, radix: 16) }
  }

  /// Waits until a port has a number of such connections; on a busy machine it learns of them late.
  private static func areWaiting(_ count: Int, at port: UInt16) async throws {
    try await eventually("\(count) connections wait") { try waiting(at: port) == count }
  }

  @Test func `a server serves the connections that it has accepted before it accepts all others`()
    async throws
  {
    let barrier = Barrier()
    let (port, waiting) = (OneShot<UInt16>(), OneShot<Int?>())
    let server = try server(connections: 200) { request in
      if request.path == "/hold" {
        barrier.pass()
      } else if let port = port.current {
        waiting.resolve(try? Self.waiting(at: port))
      }
      return .text("served")
    }
    port.resolve(server.port)
    let busy = try await LoopbackConnection(port: server.port)
    try await busy.send("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n")
    await barrier.holds()
    var others: [LoopbackConnection] = []
    for _ in 0..<100 {
      let other = try await LoopbackConnection(port: server.port)
      try await other.send(get)
      others.append(other)
    }
    try await Self.areWaiting(100, at: server.port)
    barrier.open()
    for other in others { #expect(try await other.receive(until: "served").status == 200) }
    #expect(waiting.current == 36)
    await server.stop()
  }

  @Test func `settle returns only after every received request has reached its handler`()
    async throws
  {
    let barrier = Barrier()
    let asked = Locked<[String]>([])
    let server = try server(connections: 100) { request in
      asked.withLock { $0.append(request.path) }
      if request.path == "/hold" {
        barrier.pass()
      } else {
        // Delays the handlers, so that a `settle` that returned too early would be noticed.
        usleep(5_000)
      }
      return .text("served")
    }
    let busy = try await LoopbackConnection(port: server.port)
    try await busy.send("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n")
    await barrier.holds()
    var others: [LoopbackConnection] = []
    for _ in 0..<60 {
      let other = try await LoopbackConnection(port: server.port)
      try await other.send(get)
      others.append(other)
    }
    try await Self.areWaiting(60, at: server.port)
    let settled = Task.immediate { await server.settle() }
    barrier.open()
    await settled.value
    #expect(asked.withLock(\.self).count == 61)
    await server.stop()
    // A stopped server has nothing to wait for.
    await server.settle()
  }
}
