import Foundation
import SequencingOAuth
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// Which requests reach the sign-in, and what other requests get.
@Suite(.timeLimit(.minutes(1))) struct LoopbackRequestTests {
  /// Requests that do not answer the sign-in.
  ///
  /// `PORT` and `STATE` stand for the real values.
  static let others: [String] = [
    "GET /favicon.ico HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
    // another path
    "GET /cb/?code=a&state=STATE HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
    "GET /CB?code=a&state=STATE HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
    "GET /c%62?code=a&state=STATE HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
    "GET //cb?code=a&state=STATE HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
    "GET /x/../cb?code=a&state=STATE HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
    "GET /cbx?code=a&state=STATE HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
    "GET /cb;a?code=a&state=STATE HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
    // another method
    "POST /cb?code=a&state=STATE HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Length: 0\r\n\r\n",
    "HEAD /cb?code=a&state=STATE HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
    "PUT /cb?code=a&state=STATE HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Length: 0\r\n\r\n",
    "OPTIONS /cb?code=a&state=STATE HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
    "get /cb?code=a&state=STATE HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
    "POST /cb HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Length: 20\r\n\r\ncode=a&state=STATE  ",
    // another host: DNS rebinding
    "GET /cb?code=a&state=STATE HTTP/1.1\r\nHost: evil.example:PORT\r\n\r\n",
    "GET /cb?code=a&state=STATE HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    "GET /cb?code=a&state=STATE HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n",
    "GET /cb?code=a&state=STATE HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "GET /cb?code=a&state=STATE HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n",
    "GET /cb?code=a&state=STATE HTTP/1.1\r\nHost: 127.0.0.1.evil.example:PORT\r\n\r\n",
    "GET /cb?code=a&state=STATE HTTP/1.1\r\nHost: user@127.0.0.1:PORT\r\n\r\n",
    "GET /cb?code=a&state=STATE HTTP/1.1\r\nHost: \r\n\r\n",
    "GET /cb?code=a&state=STATE HTTP/1.1\r\n\r\n", "GET /cb?code=a&state=STATE HTTP/1.0\r\n\r\n",
    "GET /cb?code=a&state=STATE HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nHost: evil.example\r\n\r\n",
    "GET http://evil.example/cb?code=a&state=STATE HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
    // no valid HTTP/1
    "\r\n\r\n", "GET\r\n\r\n", "\u{16}\u{3}\u{1}", "GET /cb?code=a&state=STATE\r\n\r\n",
    "GET /cb?code=a&state=STATE HTTP/3.0\r\nHost: 127.0.0.1:PORT\r\n\r\n",
    "GET /cb?code=a&state=STATE HTTP/1.1\r\nHost : 127.0.0.1:PORT\r\n\r\n",
    // too large
    "GET /cb?state=STATE&code=\(String(repeating: "x", count: 200_000)) HTTP/1.1\r\n"
      + "Host: 127.0.0.1:PORT\r\n\r\n",
    "GET /cb?code=a&state=STATE HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n"
      + String(repeating: "X: y\r\n", count: 50_000) + "\r\n",
    "POST /cb?code=a&state=STATE HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n"
      + "Content-Length: 99999999999\r\n\r\n",
    // a wrong state
    "GET /cb?code=a&state=wrong HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
    "GET /cb?code=a HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
    "GET /cb HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
    "GET /cb?error=access_denied&state=wrong HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
  ]

  @Test(arguments: others.indices)
  func `a request that is not the redirect gets an error and does not end the sign-in`(index: Int)
    async throws
  {
    let (fixture, page, port) = try await LoopbackRedirectTests.waiting()
    let request = Self.others[index].replacingOccurrences(of: "PORT", with: "\(port)")
      .replacingOccurrences(of: "STATE", with: page.state)
    // The client does not close its side, because the receiver answers no client that has gone.
    let answer = try await RawClient.ask(request, port: port)
    #expect((400..<600).contains(RawClient.status(answer) ?? 0), "\(answer)")
    #expect(fixture.oauth.isSigningIn && fixture.http.requests.isEmpty)
    #expect(fixture.delegate.events.isEmpty)
    #expect(RawClient.status(try await RawClient.get(try page.redirect("code=abc"))) == 200)
    #expect(await fixture.delegate.events(1) == [.authorized("T")])
    #expect(fixture.http.forms.map { $0["code"] } == ["abc"])
  }

  /// Requests that may have been the browser's answer, and the matching text in the error.
  static let refused: [(request: String, words: String)] = [
    (
      "GET /cb/?code=a&state=STATE HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
      #"the browser came to "/cb/" instead of "/cb""#
    ),
    (
      "GET /?error=access_denied HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
      #"the browser came to "/" instead of "/cb""#
    ),
    (
      "GET /cb?code=a&state=STATE HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n",
      #"the browser came to "localhost:PORT" instead of "127.0.0.1:PORT""#
    ),
    (
      "POST /cb?code=a&state=STATE HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Length: 0\r\n\r\n",
      "the browser came with POST"
    ),
    (
      "POST /cb HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Length: 12\r\n\r\ncode=a&state",
      "status 307 instead of 303"
    ),
    ("\u{16}\u{3}\u{1}\u{2}\u{0}\r\n", "a browser spoke https"),
    (
      "GET /cb?code=a&state=STATE HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nCookie: "
        + String(repeating: "c", count: 300_000) + "\r\n\r\n",
      "the browser's request was too large (status 431)"
    ),
  ]

  @Test(arguments: refused.indices)
  func `the error of a timed-out sign-in says why a probable redirect was rejected`(index: Int)
    async throws
  {
    let fixture = try OAuthFixture(browser: OAuthFixture.idle)
      .register(redirectURI: "http://127.0.0.1/cb")
    async let error = failure(.timedOut) { try await fixture.oauth.signIn() }
    let page = try await fixture.isWaiting()
    let port = try #require(URL(string: page.parameters["redirect_uri"] ?? "")?.port)
    func filled(_ text: String) -> String {
      text.replacing("PORT", with: "\(port)").replacing("STATE", with: page.state)
    }
    for request in [
      filled(Self.refused[index].request),
      // The error does not mention a browser's usual request for an icon.
      filled("GET /favicon.ico HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n"),
    ] {
      let client = try RawClient(port: UInt16(port))
      client.write(request)
      client.finish()
      _ = await client.readToEnd()
    }
    fixture.clock.advance(by: 300)
    let message = try #require(await error).message
    #expect(message.contains(filled(Self.refused[index].words)), "\(message)")
    #expect(!message.contains(page.state))
  }

  @Test func `large cookies of other programs do not block the redirect`() async throws {
    let (fixture, page, port) = try await LoopbackRedirectTests.waiting()
    let cookie = String(repeating: "other=program; ", count: 16_000)
    let client = try RawClient(port: port)
    client.write(
      "GET /cb?code=abc&state=\(page.state) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n"
        + "Cookie: \(cookie)\r\n\r\n")
    #expect(RawClient.status(await client.readToEnd()) == 200)
    #expect(await fixture.delegate.events(1) == [.authorized("T")])
  }

  @Test(arguments: [
    (
      431,
      "GET /cb HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nCookie: \(String(repeating: "c", count: 300_000))"
    ),
    (414, "GET /cb?state=\(String(repeating: "s", count: 100_000))"),
    (
      431,
      "GET /cb HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n" + String(repeating: "X: y\r\n", count: 200)
    ),
  ])
  func `a request that is too large gets a page with advice`(
    status: Int, request: String
  ) async throws {
    let (fixture, _, port) = try await LoopbackRedirectTests.waiting()
    let client = try RawClient(port: port)
    client.write(request.replacing("PORT", with: "\(port)") + " HTTP/1.1\r\n\r\n")
    client.finish()
    let answer = await client.readToEnd()
    #expect(RawClient.status(answer) == status)
    #expect(answer.contains("text/html") && answer.contains("private window"))
    #expect(answer.contains("ookies") && fixture.oauth.isSigningIn)
    fixture.oauth.cancelSignIn()
  }

  @Test func `silent clients do not delay the redirect`() async throws {
    // Other tests cannot get the reserved port after the sign-in has closed it.
    let socket = try BoundSocket()
    let (fixture, page, port) = try await LoopbackRedirectTests.waiting(
      "http://127.0.0.1:\(socket.port)/cb")
    let silent = try (0..<8).map { _ in try RawClient(port: port) }
    for client in silent.prefix(4) { client.write("GET /cb?code=a&sta") }
    #expect(RawClient.status(try await RawClient.get(try page.redirect("code=abc"))) == 200)
    #expect(await fixture.delegate.events(1) == [.authorized("T")])
    // Silent clients do not keep the port open either.
    try await eventually { !RawClient.isOpen(port: port) }
    withExtendedLifetime((silent, socket)) {}
  }

  @Test func `a redirect that the browser sends twice causes one token request`() async throws {
    let (fixture, page, _) = try await LoopbackRedirectTests.waiting()
    let url = try page.redirect("code=abc")
    async let first = try? RawClient.get(url)
    async let second = try? RawClient.get(url)
    _ = await (first, second)
    #expect(await fixture.delegate.events(1) == [.authorized("T")])
    #expect(fixture.http.requests.count == 1)
  }
}
