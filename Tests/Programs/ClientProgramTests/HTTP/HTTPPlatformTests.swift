import Foundation
import ProgramSupport
import SQBasics
import SQLoopback
import SequencingOAuth
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// Cases in which `URLSession` on Linux hangs, crashes, forwards credentials or buffers everything.
@Suite(.timeLimit(.minutes(3))) struct HTTPPlatformTests {
  let client = CurlTransport.shared

  @Test func `a 401 with a Basic challenge is returned with its body`() async throws {
    let server = try Server.answering(
      401, [("WWW-Authenticate", #"Basic realm="token endpoint""#)], #"{"error":"invalid_client"}"#)
    let response = try await client.send(try server.request("POST"))
    #expect(response.status == 401)
    #expect(response.headers["www-authenticate"] == #"Basic realm="token endpoint""#)
    #expect(response.text == #"{"error":"invalid_client"}"#)
    #expect(server.requests.count == 1)
  }

  @Test func `trailers of a chunked response can be read`() async throws {
    let server = try Server.saying(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: Grpc-Status\r\n\r\n"
        + "5\r\nhello\r\n0\r\nGrpc-Status: 16\r\nX-Sum: a b\r\n\r\n")
    let response = try await client.send(try server.request())
    #expect(response.text == "hello")
    #expect(response.trailers["grpc-status"] == "16")
    #expect(response.trailers["x-sum"] == "a b")
    #expect(response.headers["grpc-status"] == nil)
  }

  @Test func `a head that ends after the status line is an error`() async throws {
    let server = try Server.saying("HTTP/1.1 200 OK\r\n")
    await failure(.invalidResponse) { try await client.send(try server.request()) }
  }

  @Test func `a response with only a status line has no header fields and no body`() async throws {
    let server = try Server.saying("HTTP/1.1 200 OK\r\n\r\n")
    let response = try await client.send(try server.request())
    #expect(response.status == 200)
    #expect(response.headers.isEmpty)
    #expect(response.body.isEmpty)
  }

  @Test func `two hundred cancelled requests leave the client usable`() async throws {
    let server = try Server.playing([.wait(.seconds(30))])
    for _ in 0..<200 {
      let request = try server.request()
      let task = Task { try await client.send(request) }
      task.cancel()
      await failure(.cancelled) { try await task.value }
    }
    let answering = try Server.answering()
    #expect(try await client.send(try answering.request()).text == "hello")
  }

  @Test(arguments: [301, 302, 303, 307, 308], ["/elsewhere", "other origin"])
  func `a redirect is returned and not followed`(status: Int, location: String) async throws {
    let other = try Server.answering()
    let target = location == "/elsewhere" ? location : try other.url("/stolen").absoluteString
    let server = try Server.answering(status, [("Location", target)], "moved")
    var request = try server.request("POST")
    request.headers["Authorization"] = "Bearer canary"
    request.body = .bytes(Data("code=canary".utf8))
    let response = try await client.send(request)
    #expect(response.status == status)
    #expect(response.headers["location"] == target)
    #expect(response.text == "moved")
    #expect(server.requests.count == 1)
    #expect(other.requests.isEmpty)
  }

  @Test func `an endless response body is rejected at the size limit`() async throws {
    let server = try Server.playing([
      .send(Data("HTTP/1.1 200 OK\r\n\r\n".utf8)), .sendForever(Data(repeating: 120, count: 4096)),
    ])
    let error = await failure(.responseTooLarge) { try await client.send(try server.request()) }
    #expect(error?.message.contains(server.loopback.authority) == true)
  }

  @Test(arguments: [0, 1])
  func `a response of exactly the size limit is accepted, and one byte more is rejected`(
    excess: Int
  ) async throws {
    let body = String(repeating: "x", count: 1000 + excess)
    let server = try Server.answering(200, [], body)
    var request = try server.request()
    request.maximumResponseBytes = 1000
    if excess == 0 {
      #expect(try await client.send(request).text == body)
    } else {
      await failure(.responseTooLarge) { try await client.send(request) }
    }
  }

  @Test func `a compressed body is decoded, and its decoded size is limited`() async throws {
    let bomb = try await gzip(String(repeating: "\0", count: 20_000_000))
    #expect(bomb.count < 100_000)
    let server = try Server { _, _ in
      .response(
        LoopbackResponse(status: 200, headers: [("Content-Encoding", "gzip")], body: bomb))
    }
    var request = try server.request()
    await failure(.responseTooLarge) { try await client.send(request) }
    request.maximumResponseBytes = 20_000_000
    #expect(try await client.send(request).body.count == 20_000_000)
    #expect(server.requests.first?.header("accept-encoding")?.contains("gzip") == true)
  }

  @Test func `a slow trickle of bytes does not extend the total timeout`() async throws {
    let time = TimeLead()
    let server = try DrippingServer(1000, after: .seconds(400), on: time)
    defer { server.stop() }
    var request = try server.request()
    request.timeout = .seconds(2000)
    request.idleTimeout = .seconds(1000)
    let error = await failure(.requestTimedOut) {
      try await CurlTransport(lead: time).send(request)
    }
    #expect(error?.message.contains("did not complete its answer") == true)
  }

  @Test func `a header field without a space and a status without a reason phrase are accepted`()
    async throws
  {
    let server = try Server.saying("HTTP/1.1 200\r\nFoo:bar\r\nContent-Length:2\r\n\r\nok")
    let response = try await client.send(try server.request())
    #expect(response.headers["foo"] == "bar")
    #expect(response.text == "ok")
  }

  private func gzip(_ text: String) async throws -> Data {
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try Data(text.utf8).write(to: file)
    let result = try await ChildProcess.run(["gzip", "-9", file.path])
    try #require(result.status == 0, "gzip: \(result.errors)")
    let compressed = file.appendingPathExtension("gz")
    defer { try? FileManager.default.removeItem(at: compressed) }
    return try Data(contentsOf: compressed)
  }
}
