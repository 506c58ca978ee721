import FoundationEssentials
import OAuthSandbox
import SQLoopback
import Testing

@Suite(.timeLimit(.minutes(1))) struct LoopbackAdmissionTests {
  /// Returns a server that accepts ten bytes of body at `/`, a thousand at `/large` and none at
  /// `/refused`.
  private func server(
    requestTime: Duration = .seconds(10), admitted: Duration = .seconds(10)
  ) throws -> LoopbackServer {
    var limits = LoopbackLimits()
    limits.bodyBytes = 10
    limits.requestTime = requestTime
    return try LoopbackServer(
      limits: limits,
      admission: { head in
        switch head.path {
        case "/large": .read(atMost: 1000, within: admitted)
        case "/refused": .unread
        default: .ordinary
        }
      },
      handler: { request in
        .text("\(request.hasUnreadBody ? "unread" : "read") \(request.body.count)")
      })
  }

  private func post(_ path: String, _ fields: String, _ body: String = "") -> String {
    "POST \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\(fields)\r\n\r\n\(body)"
  }

  @Test(arguments: [
    ("/", "Content-Length: 10", String(repeating: "a", count: 10), 200, "read 10"),
    ("/", "Content-Length: 11", "", 413, "Content Too Large"),
    ("/large", "Content-Length: 1000", String(repeating: "a", count: 1000), 200, "read 1000"),
    ("/large", "Content-Length: 1001", "", 413, "Content Too Large"),
    ("/large", "Transfer-Encoding: chunked", "b\r\n12345678901\r\n0\r\n\r\n", 200, "read 11"),
    ("/large", "Transfer-Encoding: chunked", "3e9\r\n", 413, "Content Too Large"),
    ("/refused", "Content-Length: 1000", "", 200, "unread 0"),
    ("/refused", "Content-Length: 1000\r\nExpect: 100-continue", "", 200, "unread 0"),
    ("/refused", "Transfer-Encoding: chunked", "", 200, "unread 0"),
    ("/refused", "Content-Length: 5", "abcde", 200, "unread 0"),
    ("/refused", "Content-Length: 0", "", 200, "read 0"),
    ("/refused", "X: y", "", 200, "read 0"),
  ])
  func `the admission decides how much of a body is read`(
    path: String, fields: String, body: String, status: Int, text: String
  ) async throws {
    let server = try server()
    let answer = try await exchange(post(path, fields, body), with: server)
    #expect(answer.status == status)
    #expect(answer.contains(text))
    #expect(answer.components(of: "HTTP/1.1") == 1)
    await server.stop()
  }

  @Test func `an unread body is never read as a request`() async throws {
    let server = try server()
    let head = "POST /refused HTTP/1.1\r\nHost: a\r\nContent-Length: 37\r\n\r\n"
    let answer = try await exchange(
      head + "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n", with: server)
    #expect(answer.components(of: "HTTP/1.1") == 1 && answer.contains("Connection: close"))
    await server.stop()
  }

  @Test func `a client that sends a large unread body still gets the response`() async throws {
    let server = try server()
    let connection = try await LoopbackConnection(port: server.port)
    let bytes = 4 << 20
    try await connection.send(Data(post("/refused", "Content-Length: \(bytes)").utf8))
    try await connection.send(Data(repeating: 0x61, count: bytes))
    let answer = String(decoding: try await connection.receiveAll(), as: UTF8.self)
    #expect(answer.status == 200 && answer.contains("unread"))
    await server.stop()
  }

  @Test func `a slow answer reaches a client that is still sending an unread body`() async throws {
    let gate = Signal()
    let server = try LoopbackServer(admission: { _ in .unread }) { _ in
      await gate.wait()
      return .text("late")
    }
    let connection = try await LoopbackConnection(port: server.port)
    let bytes = 8 << 20
    try await connection.send(Data(post("/", "Content-Length: \(bytes)").utf8))
    // The server buffers fewer unread bytes than these.
    try await connection.send(Data(repeating: 0x61, count: 256 << 10))
    await gate.set()
    try await connection.send(Data(repeating: 0x61, count: bytes - (256 << 10)))
    let answer = String(decoding: try await connection.receiveAll(), as: UTF8.self)
    #expect(answer.status == 200 && answer.hasSuffix("late"))
    await server.stop()
  }

  @Test func `the admission can extend a body's time limit`() async throws {
    let server = try server(requestTime: .milliseconds(50), admitted: .seconds(50))
    let slow = try await LoopbackConnection(port: server.port)
    try await slow.send(Data(post("/large", "Content-Length: 1").utf8))
    // The second request's time limit expires long before that of the first.
    let late = try await exchange(post("/", "Content-Length: 1"), with: server)
    #expect(late.status == 408)
    try await slow.send(Data("a".utf8))
    let answer = String(decoding: try await slow.receiveAll(), as: UTF8.self)
    #expect(answer.status == 200 && answer.contains("read 1"))
    await server.stop()
  }
}
