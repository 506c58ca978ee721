import FoundationEssentials
import Glibc
import OAuthSandbox
import SQLoopback
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct LoopbackServerTests {
  private let get = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"
  private let lastGet = "GET /b HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

  /// Returns a server that answers with the request's method and target.
  private func echo(
    _ address: LoopbackAddress = .ipv4, limits: LoopbackLimits = LoopbackLimits()
  ) throws -> LoopbackServer {
    try LoopbackServer(address: address, limits: limits) { .text($0.method + $0.target) }
  }

  @Test(arguments: [LoopbackAddress.ipv4, .ipv6])
  func `a request is answered and the connection stays open`(
    address: LoopbackAddress
  ) async throws {
    let server = try echo(address)
    let connection = try await LoopbackConnection(to: address, port: server.port)
    for _ in 0..<3 {
      try await connection.send(get)
      let answer = try await connection.receive(until: "GET/a")
      #expect(answer == "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nGET/a")
    }
    await server.stop()
  }

  @Test func `pipelined requests are answered in order`() async throws {
    let server = try LoopbackServer { request in
      // The first answer is ready last.
      if request.target == "/0" { try? await Task.sleep(for: .milliseconds(20)) }
      return .text("[" + request.target + "]")
    }
    let requests = (0..<20).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined()
    let answer = try await exchange(requests + lastGet, with: server)
    let bodies = answer.split(separator: "[").dropFirst().map { $0.prefix { $0 != "]" } }
    #expect(bodies.map(String.init) == (0..<20).map { "/\($0)" } + ["/b"])
    await server.stop()
  }

  @Test func `a HEAD request is answered without content`() async throws {
    let server = try echo()
    let head = "HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n"
    let answer = try await exchange(head + lastGet, with: server)
    #expect(
      answer == "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n"
        + "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nGET/b")
    await server.stop()
  }

  @Test func `an HTTP 1.0 client gets an answer and its connection is closed`() async throws {
    let server = try echo()
    let answer = try await exchange("GET /old HTTP/1.0\r\n\r\n" + get, with: server)
    #expect(answer.components(of: "HTTP/1.1 200 OK") == 1)
    #expect(answer.contains("Connection: close\r\n"))
    await server.stop()
  }

  @Test func `a client that expects 100-continue gets a 100 Continue response`() async throws {
    let server = try LoopbackServer { .response(LoopbackResponse(status: 200, body: $0.body)) }
    let connection = try await LoopbackConnection(port: server.port)
    try await connection.send(
      "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
    let interim = try await connection.receive(until: "\r\n\r\n")
    #expect(interim == "HTTP/1.1 100 Continue\r\n\r\n")
    try await connection.send("ok")
    let answer = try await connection.receive(until: "ok")
    #expect(answer.status == 200)
    await server.stop()
  }

  @Test func `a response that must have no content has no Content-Length`() async throws {
    let server = try LoopbackServer { _ in .response(LoopbackResponse(status: 204)) }
    let answer = try await exchange(lastGet, with: server)
    #expect(answer == "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
    await server.stop()
  }

  @Test(arguments: [("X", "a\r\nSet-Cookie: b"), ("X y", "z"), ("", "z"), ("X", "a\u{0}")])
  func `an invalid header from a handler becomes a 500 answer`(
    name: String, value: String
  ) async throws {
    let server = try LoopbackServer { _ in
      .response(LoopbackResponse(status: 200, headers: [(name, value)]))
    }
    let answer = try await exchange(lastGet, with: server)
    #expect(answer.status == 500)
    #expect(!answer.contains("Set-Cookie"))
    await server.stop()
  }

  @Test(arguments: [("X y", 200), ("X", 99)], [10, 70_000])
  func `an invalid answer becomes an empty 500 answer, and the next request is answered`(
    invalid: (name: String, status: Int), bodySize: Int
  ) async throws {
    let server = try LoopbackServer { request in
      guard request.target == "/a" else { return .text("next") }
      return .response(
        LoopbackResponse(
          status: invalid.status, headers: [(invalid.name, "z")],
          body: Data(repeating: 0x78, count: bodySize)))
    }
    let answer = try await exchange(get + lastGet, with: server)
    #expect(
      answer == "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n"
        + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nnext")
    await server.stop()
  }

  @Test func `a handler's framing headers are replaced by the correct ones`() async throws {
    let server = try LoopbackServer { _ in
      .response(
        LoopbackResponse(
          status: 200, headers: [("content-length", "99"), ("Transfer-Encoding", "chunked")],
          body: Data("ok".utf8)))
    }
    let answer = try await exchange(lastGet, with: server)
    #expect(
      answer == "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
    await server.stop()
  }

  @Test func `a large response body arrives complete`() async throws {
    let body = pattern(3_000_000)
    let server = try LoopbackServer { _ in .response(LoopbackResponse(status: 200, body: body)) }
    let connection = try await LoopbackConnection(port: server.port)
    try await connection.send(lastGet)
    let answer = try await connection.receiveAll()
    #expect(answer.suffix(body.count) == body)
    await server.stop()
  }

  @Test func `a chunked request body arrives complete`() async throws {
    let server = try LoopbackServer { .response(LoopbackResponse(status: 200, body: $0.body)) }
    let chunks = (0..<500).map { _ in "a\r\n0123456789\r\n" }.joined()
    let answer = try await exchange(
      "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
        + chunks + "0\r\n\r\n", with: server)
    #expect(answer.hasSuffix(String(repeating: "0123456789", count: 500)))
    await server.stop()
  }

  @Test func `64 connections are served at the same time`() async throws {
    let server = try echo()
    let answers = try await withThrowingTaskGroup(of: Int.self) { group in
      for client in 0..<64 {
        group.addTask { [port = server.port] in
          let connection = try await LoopbackConnection(port: port)
          var answers = 0
          for request in 0..<5 {
            try await connection.send("GET /\(client)/\(request)! HTTP/1.1\r\nHost: a\r\n\r\n")
            let answer = try await connection.receive(until: "!")
            answers += answer.hasSuffix("GET/\(client)/\(request)!") ? 1 : 0
          }
          return answers
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(answers == 320)
    await server.stop()
  }
}
