import Foundation
import SQLoopback
import Testing

@testable import LoopbackSupport
@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// Where the receiver listens, and for how long.
@Suite(.timeLimit(.minutes(1))) struct LoopbackRedirectTests {
  static func waiting(
    _ redirectURI: String = "http://127.0.0.1/cb",
    answer: @escaping ScriptedTransport.Answer = ScriptedTransport.token(),
    change: (inout ClientConfiguration) -> Void = { _ in }
  ) async throws -> (OAuthFixture, AuthorizationURL, UInt16) {
    let fixture = try OAuthFixture(answer: answer, browser: OAuthFixture.idle)
      .register(redirectURI: redirectURI, change: change)
    fixture.oauth.authorizeUser()
    let page = try await fixture.isWaiting()
    let uri = try #require(URL(string: page.parameters["redirect_uri"] ?? ""))
    return (fixture, page, UInt16(try #require(uri.port)))
  }

  @Test(arguments: ["http://127.0.0.1/cb", "http://127.0.0.1:0/cb", "http://localhost/cb"])
  func `a redirect to the bound port is accepted, and the token request repeats its URI`(
    uri: String
  ) async throws {
    let (fixture, page, port) = try await Self.waiting(uri)
    #expect(port >= 1024)
    let answer = try await RawClient.get(try page.redirect("code=abc"))
    #expect(RawClient.status(answer) == 200)
    #expect(await fixture.delegate.events(1) == [.authorized("T")])
    #expect(fixture.http.forms.first?["redirect_uri"] == page.parameters["redirect_uri"])
    #expect(fixture.http.forms.first?["code"] == "abc")
  }

  /// RFC 9112, section 3.2.2: a server must accept the absolute form.
  @Test func `a request target in absolute form is accepted, and one for another host is refused`()
    async throws
  {
    let (fixture, page, port) = try await Self.waiting()
    let own = try page.redirect("code=abc").absoluteString
    let other = own.replacing("http://127.0.0.1:\(port)/", with: "http://other.example/")
    let rest = " HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\r\n"
    let refused = try await RawClient.ask("GET \(other)\(rest)", port: port)
    #expect(RawClient.status(refused) == 404 && fixture.oauth.isSigningIn)
    let answer = try await RawClient.ask("GET \(own)\(rest)", port: port)
    #expect(RawClient.status(answer) == 200)
    #expect(await fixture.delegate.events(1) == [.authorized("T")])
  }

  /// A browser on another machine cannot follow the redirect, so its user pastes it.
  @Test func `a redirect that the app passes to the SDK is accepted`() async throws {
    let (fixture, page, port) = try await Self.waiting()
    #expect(fixture.oauth.receiveRedirect(try page.forged("code=abc&state=x")) == .wrongState)
    #expect(fixture.oauth.receiveRedirect("http://127.0.0.1/cb?code=abc") == .foreignAddress)
    #expect(fixture.oauth.receiveRedirect(try page.redirect("code=abc")) == .answered)
    #expect(await fixture.delegate.events(1) == [.authorized("T")])
    #expect(page.parameters["redirect_uri"] == "http://127.0.0.1:\(port)/cb")
    #expect(fixture.http.forms.first?["redirect_uri"] == page.parameters["redirect_uri"])
  }

  @Test func `a redirect URI without a path is sent as it is, and a redirect to / is accepted`()
    async throws
  {
    let (fixture, page, port) = try await Self.waiting("http://127.0.0.1")
    #expect(page.parameters["redirect_uri"] == "http://127.0.0.1:\(port)")
    let url = try #require(URL(string: "http://127.0.0.1:\(port)/?code=abc&state=\(page.state)"))
    #expect(RawClient.status(try await RawClient.get(url)) == 200)
    #expect(await fixture.delegate.events(1) == [.authorized("T")])
  }

  @Test func `a redirect without the query of the registered redirect URI is refused`() async throws
  {
    let (fixture, page, port) = try await Self.waiting("http://127.0.0.1/cb?tenant=7")
    let uri = "http://127.0.0.1:\(port)/cb?tenant=7"
    #expect(page.parameters["redirect_uri"] == uri)
    for query in ["", "tenant=8&"] {
      let other = "http://127.0.0.1:\(port)/cb?\(query)code=abc&state=\(page.state)"
      let answer = try await RawClient.get(try #require(URL(string: other)))
      #expect(RawClient.status(answer) == 404)
    }
    #expect(fixture.oauth.isSigningIn && fixture.http.requests.isEmpty)
    let url = try #require(URL(string: "\(uri)&code=abc&state=\(page.state)"))
    #expect(RawClient.status(try await RawClient.get(url)) == 200)
    #expect(await fixture.delegate.events(1) == [.authorized("T")])
  }

  @Test(.requires("the address ::1", RawClient.hasIPv6))
  func `a redirect to ::1 is received, and localhost listens at 127.0.0.1 and ::1`() async throws {
    let (fixture, page, _) = try await Self.waiting("http://[::1]/cb")
    _ = try await RawClient.get(try page.redirect("code=abc"))
    #expect(await fixture.delegate.events(1) == [.authorized("T")])

    let (second, _, both) = try await Self.waiting("http://localhost/cb")
    #expect(RawClient.isOpen(port: both) && RawClient.isOpen("::1", port: both))
    second.oauth.cancelSignIn()
    _ = await second.delegate.events(1)
  }

  @Test func `the port is open only at the loopback address of the redirect URI`() async throws {
    let (fixture, _, port) = try await Self.waiting()
    #expect(RawClient.isOpen(port: port))
    #expect(!RawClient.isOpen("127.0.0.2", port: port))
    fixture.oauth.cancelSignIn()
  }

  /// Another program may happen to listen on the same port of ::1, so the test tries five ports.
  @Test(.requires("the address ::1", RawClient.hasIPv6))
  func `the IPv4 receiver does not listen on IPv6`() async throws {
    var isClosed = false
    for _ in 0..<5 where !isClosed {
      let (fixture, _, port) = try await Self.waiting()
      isClosed = !RawClient.isOpen("::1", port: port)
      fixture.oauth.cancelSignIn()
    }
    #expect(isClosed)
  }

  @Test(.requires("an address that is not loopback", RawClient.ownAddress != nil))
  func `the port is closed to the network`() async throws {
    for uri in ["http://127.0.0.1/cb", "http://localhost/cb"] {
      let (fixture, _, port) = try await Self.waiting(uri)
      #expect(!RawClient.isOpen(try #require(RawClient.ownAddress), port: port))
      fixture.oauth.cancelSignIn()
    }
  }

  enum End: CaseIterable { case answer, denial, cancel, timeout, tokenFailure }

  @Test(arguments: End.allCases)
  func `the port is closed when the sign-in has ended`(end: End) async throws {
    let failing = ScriptedTransport.json("{}", status: 500)
    // Other tests cannot get the reserved port after the sign-in has closed it.
    let socket = try BoundSocket()
    let (fixture, page, port) = try await Self.waiting(
      "http://127.0.0.1:\(socket.port)/cb",
      answer: end == .tokenFailure ? failing : ScriptedTransport.token())
    switch end {
    case .answer, .tokenFailure: _ = try await RawClient.get(try page.redirect("code=abc"))
    case .denial: _ = try await RawClient.get(try page.redirect("error=access_denied"))
    case .cancel: fixture.oauth.cancelSignIn()
    case .timeout: fixture.clock.advance(by: 1_000)
    }
    _ = await fixture.delegate.events(1)
    try await eventually { !RawClient.isOpen(port: port) }
    #expect(fixture.delegate.events.count == 1)
    withExtendedLifetime(socket) {}
  }

  @Test func `a fixed port is sent as registered and can be used repeatedly`() async throws {
    // Other tests cannot get the reserved port between two sign-ins.
    let socket = try BoundSocket()
    let uri = "http://127.0.0.1:\(socket.port)/cb"
    let (fixture, page, port) = try await Self.waiting(uri)
    #expect(port == socket.port && page.parameters["redirect_uri"] == uri)
    // A new sign-in takes the port over from the sign-in that is ending.
    for count in 1...5 {
      fixture.oauth.cancelSignIn()
      fixture.oauth.authorizeUser()
      _ = try await fixture.isWaiting(opened: count + 1)
    }
    let last = try #require(fixture.opened.last)
    _ = try await RawClient.get(try last.redirect("code=abc"))
    #expect(
      await fixture.delegate.events(6) == Array(repeating: .cancelled, count: 5) + [
        .authorized("T")
      ])
    withExtendedLifetime(socket) {}
  }

  @Test func `if another program uses the port, the sign-in fails and no browser opens`()
    async throws
  {
    let (first, _, port) = try await Self.waiting()
    let second = try OAuthFixture().register(redirectURI: "http://127.0.0.1:\(port)/cb")
    let error = await failure(.portInUse) { try await second.oauth.signIn() }
    #expect(error?.message.contains("\(port)") == true)
    #expect(second.opened.isEmpty)
    #expect(await second.delegate.events(1) == [.failed(.portInUse)])
    #expect(first.oauth.isSigningIn)
    first.oauth.cancelSignIn()
  }

  /// A browser omits the default port from the `Host` field.
  ///
  /// Binding port 80 needs privileges, so this test calls only the check of the `Host` field.
  @Test(
    arguments: [
      ("127.0.0.1", 80, true), ("127.0.0.1:80", 80, true), ("localhost", 80, false),
      ("127.0.0.1", 8080, false), ("", 80, false), (nil, 80, false),
    ] as [(String?, UInt16, Bool)])
  func `on port 80 the Host field may omit the port`(field: String?, port: UInt16, isIts: Bool)
    throws
  {
    let url = try #require(URL(string: "http://127.0.0.1:\(port)/cb"))
    let redirect = try LoopbackRedirect(url)
    #expect(LoopbackRedirectReceiver.isHost(field, of: redirect, port: port) == isIts)
  }

  @Test(
    arguments: [
      (.portInUse(8080), .portInUse, "port 8080"),
      (.addressUnavailable, .redirectUnavailable, "loopback interface"),
      (.system(errno: EACCES), .redirectUnavailable, "(Permission denied)"),
    ] as [(LoopbackError, SQOAuthError.Code, String)])
  func `the error for an unavailable port names the reason, and a port in use has its own code`(
    error: LoopbackError, code: SQOAuthError.Code, reason: String
  ) {
    let refusal = LoopbackRedirectReceiver.unavailable(error)
    #expect(refusal.code == code && refusal.message.contains(reason), "\(refusal)")
  }

  @Test func `simultaneous sign-ins have separate ports and answers`() async throws {
    let (first, firstPage, firstPort) = try await Self.waiting()
    let (second, secondPage, secondPort) = try await Self.waiting()
    #expect(firstPort != secondPort)
    // The second sign-in's answer goes to the first sign-in's port.
    let crossed = "\(firstPage.parameters["redirect_uri"] ?? "")?code=x&state=\(secondPage.state)"
    let answer = try await RawClient.get(try #require(URL(string: crossed)))
    #expect(RawClient.status(answer) == 400)
    #expect(first.oauth.isSigningIn && second.oauth.isSigningIn)
    _ = try await RawClient.get(try secondPage.redirect("code=two"))
    _ = try await RawClient.get(try firstPage.redirect("code=one"))
    #expect(await first.delegate.events(1) == [.authorized("T")])
    #expect(await second.delegate.events(1) == [.authorized("T")])
    #expect(first.http.forms.map { $0["code"] } == ["one"])
    #expect(second.http.forms.map { $0["code"] } == ["two"])
  }
}
