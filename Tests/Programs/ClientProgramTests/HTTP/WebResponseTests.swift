import Foundation
import ProgramSupport
import SQBasics
import SQLoopback
import SequencingOAuth
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// Responses as real servers write them, valid and broken.
@Suite(.timeLimit(.minutes(3))) struct WebResponseTests {
  let client = CurlTransport.shared

  @Test func `interim responses are skipped`() async throws {
    let server = try Server.saying(
      "HTTP/1.1 100 Continue\r\nX-Early: 1\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
        + "HTTP/1.1 200 OK\r\nX-Final: 1\r\nContent-Length: 2\r\n\r\nok")
    let response = try await client.send(try server.request())
    #expect(response.status == 200)
    #expect(response.headers.map(\.name) == ["X-Final", "Content-Length"])
    #expect(response.text == "ok")
  }

  @Test func `fields keep their order and repetitions, and folded fields are joined`() async throws
  {
    let server = try Server.saying(
      "HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\nX-Long: one\r\n  two\r\n"
        + "X-Empty:\r\nContent-Length: 0\r\n\r\n")
    let response = try await client.send(try server.request())
    #expect(response.headers.values(for: "SET-COOKIE") == ["a=1", "b=2"])
    #expect(response.headers["x-long"] == "one two")
    #expect(response.headers["x-empty"]?.isEmpty == true)
  }

  @Test func `cookies are not stored`() async throws {
    let server = try Server.answering(200, [("Set-Cookie", "session=canary; Path=/")])
    for _ in 0..<2 { _ = try await client.send(try server.request()) }
    #expect(server.requests.count == 2)
    #expect(server.requests.allSatisfy { $0.header("cookie") == nil })
  }

  @Test(
    arguments: [
      ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", .connectionFailed),
      ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", .connectionFailed),
      ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", .connectionFailed),
      ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", .connectionFailed),
      (
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello",
        .invalidResponse
      ),
      ("HTTP/1.1 200 OK\r\nFoo: bar\r\n", .invalidResponse),
      ("HTTP/1.1 200 OK\r\nno colon here\r\nContent-Length: 0\r\n\r\n", .invalidResponse),
      ("HTTP/1.1 200 OK\r\n: no name\r\nContent-Length: 0\r\n\r\n", .invalidResponse),
      ("HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n", .invalidResponse),
      ("HTTP/1.1 20\r\n\r\n", .invalidResponse),
      ("HTTP/1.1 100 Continue\r\n\r\n", .connectionFailed),
      ("hello, this is no HTTP", .invalidResponse),
      ("SSH-2.0-OpenSSH_9.2\r\n", .invalidResponse),
      ("", .connectionFailed),
    ] as [(String, SQOAuthError.Code)])
  func `a broken response is an error`(text: String, code: SQOAuthError.Code) async throws {
    let server = try Server.saying(text)
    let error = await failure(code) { try await client.send(try server.request()) }
    #expect(error?.message.contains(server.loopback.authority) == true)
  }

  @Test(arguments: ["utf-8", "UTF-8", "binary", "gzip, utf-8"])
  func `the error for an unknown content coding names the Content-Encoding field`(coding: String)
    async throws
  {
    let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: 5\r\n\r\n"
    let server = try Server.saying(head + "hello")
    let error = await failure(.invalidResponse) { try await client.send(try server.request()) }
    #expect(error?.message.contains("Content-Encoding") == true, "\(error?.message ?? "")")
  }

  @Test func `a connection that is reset during a response is reported as failed`() async throws {
    let server = try Server.playing([
      .send(Data("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx".utf8)), .reset,
    ])
    await failure(.connectionFailed) { try await client.send(try server.request()) }
  }

  @Test func `too many or too large header fields are rejected`() async throws {
    let many = try Server.saying(
      "HTTP/1.1 200 OK\r\n" + String(repeating: "A: b\r\n", count: 300) + "\r\n")
    await failure(.responseTooLarge) { try await client.send(try many.request()) }
    let long = "A: " + String(repeating: "b", count: 60_000) + "\r\n"
    let large = try Server.saying(
      "HTTP/1.1 200 OK\r\n" + String(repeating: long, count: 5) + "\r\n")
    await failure(.responseTooLarge) { try await client.send(try large.request()) }
    let endless = try Server.playing([.sendForever(Data("HTTP/1.1 103 Hints\r\n\r\n".utf8))])
    await failure(.responseTooLarge) { try await client.send(try endless.request()) }
  }

  @Test func `a HEAD request gets only the head`() async throws {
    let server = try Server.saying("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    let response = try await client.send(try server.request("HEAD"))
    #expect(response.headers["content-length"] == "1000")
    #expect(response.body.isEmpty)
  }

  @Test func `204 and 304 responses are complete without a body`() async throws {
    for status in [204, 304] {
      let server = try Server.saying("HTTP/1.1 \(status) X\r\n\r\n")
      let response = try await client.send(try server.request())
      #expect(response.status == status && response.body.isEmpty)
    }
  }

  @Test(.ownThreads) func `connections are reused`() async {
    // A separate process: connections of other tests could push out a kept connection.
    await #expect(processExitsWith: .success) {
      let server = try Server.answering()
      for _ in 0..<20 { _ = try await CurlTransport.shared.send(try server.request()) }
      try #require(Set(server.requests.map(\.peerPort)).count == 1)
    }
  }
}
