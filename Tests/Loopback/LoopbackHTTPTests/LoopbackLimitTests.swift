import FoundationEssentials
import OAuthSandbox
import SQBasics
import SQLoopback
import Testing

@Suite(.timeLimit(.minutes(1))) struct LoopbackLimitTests {
  private let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

  private func server(
    _ change: (inout LoopbackLimits) -> Void
  ) throws -> LoopbackServer {
    var limits = LoopbackLimits()
    change(&limits)
    return try LoopbackServer(limits: limits) { _ in .text("served") }
  }

  @Test(arguments: [
    ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n", 413),
    ("GET /\(String(repeating: "a", count: 300)) HTTP/1.1\r\n", 414),
    ("GET / HTTP/1.1\r\nX: \(String(repeating: "a", count: 300))\r\n", 431),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
    ("GET / HTTP/3.0\r\n", 505),
  ])
  func `a rejected request gets the matching status, and its connection serves no other request`(
    request: String, status: Int
  ) async throws {
    let server = try server {
      $0.headerBytes = 200
      $0.bodyBytes = 10
    }
    let answer = try await exchange(request + get, with: server)
    #expect(answer.status == status)
    #expect(answer.components(of: "HTTP/1.1") == 1)
    #expect(answer.contains("Connection: close\r\n"))
    #expect(!answer.contains("served"))
    await server.stop()
  }

  @Test func `a client whose body is rejected while it arrives still gets the answer`()
    async throws
  {
    let server = try server { $0.bodyBytes = 10 }
    let connection = try await LoopbackConnection(port: server.port)
    // The client sends the head and the body at once, so the server has unread bytes when it
    // answers.
    try await connection.send(
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\n"
        + String(repeating: "x", count: 300_000))
    let answer = String(decoding: try await connection.receiveAll(), as: UTF8.self)
    #expect(answer.status == 413)
    await server.stop()
  }

  @Test(arguments: [
    "G", "GET / HTTP/1.1\r\nHost: a\r\nX: ",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n1",
  ])
  func `a request that does not end in time gets status 408`(start: String) async throws {
    let server = try server { $0.requestTime = .milliseconds(50) }
    let answer = try await exchange(start, with: server)
    #expect(answer.status == 408)
    await server.stop()
  }

  @Test func `a slow trickle of bytes does not extend the time limit`() async throws {
    let server = try server {
      $0.requestTime = .milliseconds(100)
      $0.idleTime = .seconds(60)
    }
    let connection = try await LoopbackConnection(port: server.port)
    // If each byte restarted the limit, the request would take the test's whole minute.
    let drip = Task {
      for byte in "GET / HTTP/1.1\r\nX: " + String(repeating: "a", count: 5_000) {
        try await connection.send(String(byte))
        try await Task.sleep(for: .milliseconds(10))
      }
    }
    let answer = try await connection.receive(until: "HTTP/1.1")
    #expect(answer.status == 408)
    drip.cancel()
    await server.stop()
  }

  @Test func `an idle connection is closed without an answer`() async throws {
    let server = try server { $0.idleTime = .milliseconds(50) }
    #expect(try await exchange("", with: server) == "")
    await server.stop()
  }

  @Test func `a connection between two requests stays open only for the idle time`() async throws {
    let server = try server { $0.idleTime = .milliseconds(200) }
    var answer = ""
    // On a busy machine the idle time may pass before the request is sent.
    while answer.isEmpty { answer = (try? await exchange(get, with: server)) ?? "" }
    #expect(answer.status == 200)
    #expect(answer.components(of: "HTTP/1.1") == 1)
    await server.stop()
  }

  @Test func `a handler may take longer than the time limit for requests`() async throws {
    var limits = LoopbackLimits()
    limits.requestTime = .milliseconds(20)
    let server = try LoopbackServer(limits: limits) { _ in
      try? await Task.sleep(for: .milliseconds(100))
      return .text("late")
    }
    var answer = ""
    // On a busy machine the time limit may pass before the request arrives.
    repeat {
      answer = try await exchange(get.replacingClose, with: server)
    } while answer.status == 408
    #expect(answer.hasSuffix("late"))
    await server.stop()
  }

  @Test func `a client that stops reading is disconnected`() async throws {
    var limits = LoopbackLimits()
    limits.idleTime = .milliseconds(500)
    limits.connections = 1
    let server = try LoopbackServer(limits: limits) { request in
      request.target == "/" ? .script([.sendForever(Data("x".utf8))]) : .text("served")
    }
    let stuck = try await LoopbackConnection(port: server.port)
    try await stuck.send(get)
    _ = try await stuck.receive()
    // The server accepts another client only after it has closed this connection.
    while true {
      let other = try await LoopbackConnection(port: server.port)
      try? await other.send("GET /other HTTP/1.1\r\nHost: a\r\n\r\n")
      if let answer = try? await other.receive(), !answer.isEmpty { break }
      try await Task.sleep(for: .milliseconds(5))
    }
    await server.stop()
    withExtendedLifetime(stuck) {}
  }

  @Test func `a connection above the limit is closed and the others are served`() async throws {
    let server = try server { $0.connections = 3 }
    var connections: [LoopbackConnection] = []
    for _ in 0..<3 {
      let connection = try await LoopbackConnection(port: server.port)
      try await connection.send(get)
      _ = try await connection.receive(until: "served")
      connections.append(connection)
    }
    let extra = try await LoopbackConnection(port: server.port)
    #expect(try await extra.receiveAll().isEmpty)
    try await connections[0].send(get)
    #expect(try await connections[0].receive(until: "served").status == 200)
    // The next connection takes the place of a closed one.
    connections[1].close()
    while (try? await exchange(get.replacingClose, with: server))?.status != 200 {
      try await Task.sleep(for: .milliseconds(5))
    }
    await server.stop()
  }

  @Test func `a client that sends too fast is slowed down, not buffered`() async throws {
    let gate = Signal()
    let server = try LoopbackServer { _ in
      await gate.wait()
      return .text("served")
    }
    let connection = try await LoopbackConnection(port: server.port)
    let pieces = 1_000
    let sent = Locked(0)
    let sender = Task { [get] in
      let piece = String(repeating: get, count: 2_000)
      for _ in 0..<pieces {
        try await connection.send(piece)
        sent.withLock { $0 += 1 }
      }
    }
    // Sending stops when the buffers of the two sockets are full, long before the end.
    var before = -1
    while before != sent.withLock({ $0 }) || before == 0 {
      before = sent.withLock { $0 }
      try await Task.sleep(for: .milliseconds(200))
    }
    #expect(before < pieces)
    await gate.set()
    let answers = try await connection.receive(until: "served", times: 1_000)
    #expect(answers.status == 200)
    connection.close()
    _ = await sender.result
    await server.stop()
  }
}

extension String {
  /// The request with `Connection: close` added.
  fileprivate var replacingClose: String {
    String(dropLast()) + "Connection: close\r\n\r\n"
  }
}
