import FoundationEssentials
import Glibc
import OAuthSandbox
import SQBasics
import SQLoopback
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct LoopbackLifeTests {
  private let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

  @Test(arguments: [LoopbackAddress.ipv4, .ipv6])
  func `a server cannot use a port that another listener has`(
    address: LoopbackAddress
  ) async throws {
    let server = try LoopbackServer(address: address) { _ in .text("") }
    #expect(throws: LoopbackError.portInUse(server.port)) {
      try LoopbackServer(address: address, port: server.port) { _ in .text("") }
    }
    await server.stop()
  }

  @Test func `a server cannot use a port that another listener has at 0.0.0.0`() async throws {
    let listener = try AnyAddressListener()
    #expect(throws: LoopbackError.portInUse(listener.port)) {
      try LoopbackServer(port: listener.port) { _ in .text("") }
    }
  }

  @Test func `no listener at 0.0.0.0 can take the server's port`() async throws {
    let server = try LoopbackServer { _ in .text("") }
    #expect(throws: AnyAddressListener.Failure(code: EADDRINUSE)) {
      try AnyAddressListener(port: server.port)
    }
    await server.stop()
  }

  @Test func `the server is reachable only at the loopback address`() async throws {
    let server = try LoopbackServer { _ in .text("") }
    // All of 127.0.0.0/8 leads to this host, and so do the addresses of its interfaces.
    for address in ["127.0.0.2"] + AnyAddressListener.hostAddresses() {
      #expect(AnyAddressListener.canConnect(to: address, port: server.port) == false)
    }
    #expect(AnyAddressListener.canConnect(to: "127.0.0.1", port: server.port))
    await server.stop()
  }

  /// Binds a port again.
  ///
  /// Another test's server may have taken it for a while.
  private func rebound(_ port: UInt16) async throws -> LoopbackServer {
    try await eventually("port \(port) is free") {
      try? LoopbackServer(port: port) { _ in .text("") }
    }
  }

  /// Duplicates the socket that listens on a port, as a child does before it runs its program.
  private func copyOfListener(at port: UInt16) throws -> Int32 {
    let descriptor = (3..<4096 as Range<Int32>).first { descriptor in
      var address = sockaddr_in()
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isBound = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          getsockname(descriptor, $0, &size) == 0
        }
      }
      var listens: Int32 = 0
      var length = socklen_t(MemoryLayout<Int32>.size)
      getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length)
      return isBound && listens == 1 && UInt16(bigEndian: address.sin_port) == port
    }
    return fcntl(try #require(descriptor), F_DUPFD_CLOEXEC, 0)
  }

  @Test func `stop frees the port even if a child process holds the listening socket`() async throws
  {
    let server = try LoopbackServer { _ in .text("") }
    let copy = try copyOfListener(at: server.port)
    defer { close(copy) }
    await server.stop()
    await (try await rebound(server.port)).stop()
  }

  @Test func `stop frees the port even if connections are open`() async throws {
    let server = try LoopbackServer { _ in .text("served") }
    let connection = try await LoopbackConnection(port: server.port)
    try await connection.send(get)
    _ = try await connection.receive(until: "served")
    await server.stop()
    #expect(try await connection.receiveAll().isEmpty)
    let next = try await rebound(server.port)
    await next.stop()
    await next.stop()
  }

  @Test func `an answer that is ready is sent before the server stops`() async throws {
    let handled = Signal()
    let body = Data(count: 1_000_000)
    let server = try LoopbackServer { _ in
      await handled.set()
      return .response(LoopbackResponse(status: 200, body: body))
    }
    let connection = try await LoopbackConnection(port: server.port)
    try await connection.send(get)
    await handled.wait()
    async let answer = connection.receiveAll()
    await server.stop(handlerGrace: .seconds(30))
    #expect(try await answer.count > body.count)
  }

  @Test func `stop cancels handlers and drops their answers`() async throws {
    let started = Signal()
    let cancelled = Signal()
    let server = try LoopbackServer { _ in
      await started.set()
      await untilCancelled()
      await cancelled.set()
      return .text("too late")
    }
    let connection = try await LoopbackConnection(port: server.port)
    try await connection.send(get)
    await started.wait()
    await server.stop()
    await cancelled.wait()
    #expect(try await connection.receiveAll().isEmpty)
  }

  @Test func `stop returns when a handler calls it`() async throws {
    let box = Locked<LoopbackServer?>(nil)
    let stopped = Signal()
    let server = try LoopbackServer { _ in
      await box.withLock { $0 }?.stop()
      await stopped.set()
      return .text("")
    }
    box.withLock { $0 = server }
    let connection = try await LoopbackConnection(port: server.port)
    try await connection.send(get)
    await stopped.wait()
    #expect(try await connection.receiveAll().isEmpty)
  }

  @Test func `a client that goes away cancels its handler`() async throws {
    let started = Signal()
    let cancelled = Signal()
    let server = try LoopbackServer { _ in
      await started.set()
      await untilCancelled()
      await cancelled.set()
      return .text("")
    }
    let connection = try await LoopbackConnection(port: server.port)
    try await connection.send(get)
    await started.wait()
    connection.close()
    await cancelled.wait()
    await server.stop()
  }

  @Test func `a released server closes its connections and frees its port`() async throws {
    var server: LoopbackServer? = try LoopbackServer { _ in .text("served") }
    let port = try #require(server?.port)
    let connection = try await LoopbackConnection(port: port)
    try await connection.send(get)
    _ = try await connection.receive(until: "served")
    server = nil
    #expect(try await connection.receiveAll().isEmpty)
    let next = try await rebound(port)
    await next.stop()
  }

  @Test func `a hundred servers leave no threads or descriptors open`() async throws {
    func descriptors() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }
    func threads() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
    }
    let before = (try descriptors(), try threads())
    for round in 0..<100 {
      let server = try LoopbackServer { _ in .text("") }
      if round.isMultiple(of: 2) { await server.stop() }
    }
    // Other tests run at the same time, so the loop finds a leak only if most servers leak.
    while try descriptors() > before.0 + 60 || threads() > before.1 + 50 {
      try await Task.sleep(for: .milliseconds(10))
    }
  }
}

/// Waits until the current task is cancelled.
private func untilCancelled() async {
  while !Task.isCancelled { try? await Task.sleep(for: .seconds(60)) }
}
