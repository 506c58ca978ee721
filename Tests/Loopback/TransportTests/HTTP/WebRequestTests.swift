import Foundation
import SQBasics
import SQLoopback
import SequencingOAuth
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// What requests contain byte for byte, and what they must never contain.
@Suite(.timeLimit(.minutes(3))) struct WebRequestTests {
  let client = CurlTransport.shared

  @Test(arguments: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"])
  func `a method is sent unchanged and without a body`(method: String) async throws {
    let server = try Server.answering(200, [], "")
    _ = try await client.send(try server.request(method, "/a/../b?c=d#e"))
    let seen = try #require(server.requests.first)
    #expect(seen.method == method)
    #expect(seen.target == "/a/../b?c=d")
    #expect(seen.body.isEmpty)
    let expectsContent = ["POST", "PUT", "PATCH"].contains(method)
    #expect(seen.header("content-length") == (expectsContent ? "0" : nil))
    #expect(seen.header("content-type") == nil)
    #expect(seen.header("expect") == nil)
  }

  @Test(arguments: ["POST", "PUT", "PATCH", "DELETE", "GET"], [1, 1000, 65_536, 65_537, 900_000])
  func `a body arrives complete`(method: String, size: Int) async throws {
    let server = try Server.answering()
    var request = try server.request(method)
    let body = pattern(size)
    request.body = .bytes(body)
    request.headers["Content-Type"] = "application/octet-stream"
    _ = try await client.send(request)
    let seen = try #require(server.requests.first)
    #expect(seen.method == method)
    #expect(seen.body == body)
    #expect(seen.header("content-length") == "\(size)")
    #expect(seen.header("content-type") == "application/octet-stream")
    #expect(seen.header("expect") == nil)
  }

  @Test func `no part of a request is left in the next one`() async throws {
    let server = try Server.answering(200, [], "")
    let client = CurlTransport()
    var first = try server.request("POST")
    first.headers = ["Authorization": "Bearer canary", "X-First": "1"]
    first.body = .bytes(Data("secret".utf8))
    for method in ["GET", "POST", "HEAD", "DELETE"] {
      _ = try await client.send(first)
      _ = try await client.send(try server.request(method))
      let seen = try #require(server.requests.last)
      #expect(seen.method == method)
      #expect(seen.body.isEmpty)
      #expect(seen.header("authorization") == nil)
      #expect(seen.header("x-first") == nil)
    }
  }

  @Test func `header fields are sent in order, including empty and repeated ones`() async throws {
    let server = try Server.answering()
    var request = try server.request()
    request.headers = ["X-A": "1", "X-Empty": "", "X-Space": " \t", "x-a": "2", "X-Tab": "a\tb"]
    _ = try await client.send(request)
    let seen = try #require(server.requests.first).headers.filter { $0.name.hasPrefix("x-") }
    #expect(seen.map(\.name) == ["x-a", "x-empty", "x-space", "x-a", "x-tab"])
    #expect(seen.map(\.value) == ["1", "", "", "2", "a\tb"])
  }

  @Test(arguments: [nil, "MyApp/2.1 (Linux)", ""])
  func `a request has the default User-Agent unless it sets its own`(own: String?) async throws {
    let server = try Server.answering()
    var request = try server.request("POST")
    if let own { request.headers["User-Agent"] = own }
    _ = try await client.send(request)
    let seen = server.requests.first?.headers.filter { $0.name == "user-agent" }.map(\.value)
    #expect(seen == [own ?? HTTPTransportConfiguration.defaultUserAgent])
  }

  @Test(arguments: [nil, "MyApp/2.1"])
  func `an app can set or remove the User-Agent of its requests`(name: String?) async throws {
    let server = try Server.answering()
    var configuration = HTTPTransportConfiguration()
    configuration.userAgent = name
    _ = try await CurlTransport(configuration: configuration).send(try server.request())
    #expect(server.requests.first?.header("user-agent") == name)
  }

  @Test(arguments: ["a\r\nEvil: 1", "caf\u{e9}"])
  func `an invalid User-Agent is rejected`(name: String) async throws {
    let server = try Server.answering()
    let request = try server.request()
    var configuration = HTTPTransportConfiguration()
    configuration.userAgent = name
    let client = CurlTransport(configuration: configuration)
    await failure(.invalidConfiguration) { try await client.send(request) }
    #expect(server.requests.isEmpty)
  }

  @Test func `the caller's Host replaces the default`() async throws {
    let server = try Server.answering()
    var request = try server.request()
    request.headers["Host"] = "example.com"
    _ = try await client.send(request)
    #expect(server.requests.first?.header("host") == "example.com")
  }

  @Test(
    arguments: [
      [("X", "a\r\nEvil: 1")], [("X", "a\nEvil: 1")], [("X", "a\rb")], [("X", "a\0b")],
      [("X", "caf\u{e9}")], [("X", "\u{7f}")], [("X\r\nEvil", "1")], [("X Y", "1")], [("", "1")],
      [("X:", "1")], [("X\u{e9}", "1")], [("Host", "a"), ("host", "b")], [("Content-Length", "3")],
      [("content-length", "3"), ("Content-Length", "4")], [("Transfer-Encoding", "chunked")],
    ] as [[(String, String)]])
  func `an invalid header field, a second Host and a framing field are rejected`(
    fields: [(String, String)]
  ) async throws {
    let server = try Server.answering()
    var request = try server.request("POST")
    request.body = .bytes(Data("abc".utf8))
    request.headers = HeaderFields(fields.map { HeaderFields.Field(name: $0.0, value: $0.1) })
    let error = await failure(.malformedRequest) { try await client.send(request) }
    #expect(error?.message.contains("Evil") == false)
    #expect(server.requests.isEmpty)
  }

  @Test(arguments: ["", "GET ", "G\r\nT", "GET\0", "GÉT", "CONNECT"])
  func `CONNECT and a method that is not a token are rejected`(method: String) async throws {
    let server = try Server.answering()
    await failure(.malformedRequest) { try await client.send(try server.request(method)) }
    #expect(server.requests.isEmpty)
  }

  @Test(arguments: [
    "ftp://127.0.0.1/", "file:///etc/passwd", "/relative", "http:/one", "http:opaque",
    "http://user@127.0.0.1/", "http://user:secret@127.0.0.1/", "http://@127.0.0.1/",
    "http:///path", "http://127.0.0.1:0/", "http://127.0.0.1:65536/", "http://127.0.0.1:/",
    "http://127.0.0.1:80:80/", "http://%31%32%37.0.0.1/", "http://[::1/", "http://[127.0.0.1]/",
    "http://[fe80::1%25lo]/", "http://a,b/",
  ])
  func `an unsupported or ambiguous URL is rejected`(text: String) async throws {
    let refusal = #expect(throws: SQOAuthError.self) { try WebRequest(url: text) }
    #expect(refusal?.code == .malformedRequest)
    guard let url = URL(string: text) else { return }
    let error = await failure(.malformedRequest) {
      try await client.send(WebRequest(url: url))
    }
    #expect(error?.message.contains("secret") == false)
  }

  @Test func `a URL can be given as text`() throws {
    let request = try WebRequest(method: "PUT", url: "https://api.example/a%2Fb?c=d")
    #expect(request.url.absoluteString == "https://api.example/a%2Fb?c=d")
    #expect(request.method == "PUT")
  }

  @Test func `a HEAD request with a body is rejected`() async throws {
    let server = try Server.answering()
    var request = try server.request("HEAD")
    request.body = .bytes(Data("a".utf8))
    await failure(.malformedRequest) { try await client.send(request) }
  }

  @Test func `an IPv6 host is reached`() async throws {
    let server = try Server(address: .ipv6) { _, _ in .response(LoopbackResponse(status: 204)) }
    #expect(try await client.send(try server.request()).status == 204)
  }
}
