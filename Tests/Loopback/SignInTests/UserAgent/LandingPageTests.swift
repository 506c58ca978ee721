import Foundation
import SequencingOAuth
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// The page that the browser shows: fixed texts, no caching, and no requests to a server.
@Suite(.timeLimit(.minutes(1))) struct LandingPageTests {
  static let nasty =
    "%3Cscript%3Ealert(1)%3C/script%3E%22%27%3E%3Cimg%20src=x%20onerror=alert(1)%3E%0D%0AX-Evil:%20C4N4RY"

  static let queries = [
    "code=C4N4RY", "error=access_denied&error_description=\(nasty)", "error=\(nasty)",
    "error=server_error&error_description=\(nasty)&error_uri=javascript:C4N4RY",
    "code=C4N4RY&code=C4N4RY", "x=\(nasty)", "code=a&access_token=C4N4RY",
  ]

  /// Expects that the policy in an answer's head allows no script, no request and no frame.
  private func expectSafePolicy(_ head: String) {
    let name = "content-security-policy:"
    let fields = head.split(separator: "\r\n").filter { $0.hasPrefix(name) }
    #expect(fields.count == 1)
    let directives = (fields.first ?? "").dropFirst(name.count).split(separator: ";")
      .map { $0.split(separator: " ") }
    for name in ["default-src", "frame-ancestors", "base-uri"] {
      #expect(directives.contains { $0 == [Substring(name), "'none'"] }, "\(name)")
    }
    for directive in directives {
      let (name, sources) = (directive.first ?? "", directive.dropFirst())
      // This check rejects `'unsafe-inline'` and `'unsafe-eval'` too.
      let isSafe = sources.allSatisfy {
        switch name {
        case "style-src": $0.hasPrefix("'nonce-")
        case "img-src": $0 == "data:"
        default: $0 == "'none'"
        }
      }
      #expect(isSafe, "\(directive)")
    }
  }

  func expectSafe(_ answer: String) {
    let parts = answer.split(separator: "\r\n\r\n", maxSplits: 1)
    let head = (parts.first ?? "").lowercased()
    let body = parts.count > 1 ? String(parts[1]) : ""
    for field in [
      "cache-control: no-store", "referrer-policy: no-referrer", "x-content-type-options: nosniff",
      "content-type: text/html; charset=utf-8",
    ] {
      #expect(head.contains("\r\n\(field)"), "\(field)")
    }
    expectSafePolicy(head)
    #expect(!head.contains("set-cookie") && !head.contains("access-control-allow"))
    #expect(!answer.contains("C4N4RY") && !answer.contains("alert("), "nothing is echoed")
    // The XML namespace of SVG looks like an address but is none.
    let page = body.lowercased().replacingOccurrences(of: "http://www.w3.org/2000/svg", with: "")
    #expect(page.hasPrefix("<!doctype html>"))
    for word in ["<script", "<iframe", "<img", "http://", "https://", "onerror", "javascript:"] {
      #expect(!page.contains(word), "\(word)")
    }
    #expect(page.contains("<title>") && page.contains("lang=") && page.contains("viewport"))
  }

  @Test(arguments: queries)
  func `the page for a redirect repeats no input and loads nothing`(query: String) async throws {
    let (fixture, page, _) = try await LoopbackRedirectTests.waiting()
    expectSafe(try await RawClient.get(try page.redirect(query)))
    #expect(await fixture.delegate.events(1).count == 1)
  }

  @Test(arguments: ["access_denied", "consent_required"])
  func `the page for a denial says that the user was not signed in`(code: String) async throws {
    let (fixture, page, _) = try await LoopbackRedirectTests.waiting()
    let answer = try await RawClient.get(try page.redirect("error=\(code)"))
    #expect(answer.contains("You were not signed in"))
    #expect(await fixture.delegate.events(1) == [.cancelled])
  }

  @Test(arguments: ["code=C4N4RY&state=x", "error=\(nasty)&state=\(nasty)"])
  func `the page for a wrong state repeats no input and is an error`(
    query: String
  ) async throws {
    let (fixture, page, _) = try await LoopbackRedirectTests.waiting()
    let answer = try await RawClient.get(try page.forged(query))
    #expect(RawClient.status(answer) == 400)
    expectSafe(answer)
    fixture.oauth.cancelSignIn()
  }

  @Test func `the page for an unknown path is an error and repeats no input`() async throws {
    let (fixture, _, port) = try await LoopbackRedirectTests.waiting()
    let answer = try await RawClient.ask(
      "GET /<script>C4N4RY HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\r\n",
      port: port)
    #expect([400, 404].contains(RawClient.status(answer)))
    #expect(!answer.contains("C4N4RY"))
    fixture.oauth.cancelSignIn()
  }

  @Test func `success and failure have different pages, and the success page waits for the token`()
    async throws
  {
    let (good, goodPage, _) = try await LoopbackRedirectTests.waiting()
    let success = try await RawClient.get(try goodPage.redirect("code=abc"))
    #expect(good.http.requests.count == 1, "the page waited for the token")
    let (_, badPage, _) = try await LoopbackRedirectTests.waiting(
      answer: ScriptedTransport.json(#"{"error":"invalid_grant"}"#, status: 400))
    let failed = try await RawClient.get(try badPage.redirect("code=abc"))
    let (_, deniedPage, _) = try await LoopbackRedirectTests.waiting()
    let denied = try await RawClient.get(try deniedPage.redirect("error=access_denied"))
    let bodies = [success, failed, denied].map { $0.components(separatedBy: "\r\n\r\n").last ?? "" }
    #expect(Set(bodies).count == 3)
    expectSafe(failed)
  }

  @Test func `the page tells a user that too few scopes were granted`() async throws {
    let (fixture, page, _) = try await LoopbackRedirectTests.waiting(
      answer: ScriptedTransport.token(members: #""scope":"demo""#),
      change: { $0.requiredScopes = ["demo", "C4N4RY"] })
    let answer = try await RawClient.get(try page.redirect("code=abc"))
    #expect(answer.contains("The app needs more than you allowed."))
    expectSafe(answer)
    #expect(await fixture.delegate.events(1) == [.failed(.insufficientScope)])
  }

  /// The user reloads the blank page, or the browser tries again after a lost connection.
  ///
  /// The second page must show the result, because the first page is no longer visible.
  @Test(arguments: [(true, "You are signed in"), (false, "The sign\u{2011}in failed")])
  func `a reloaded page waits for the same result and shows it`(
    isGood: Bool, heading: String
  ) async throws {
    let server = Gate(isOpen: false)
    let answer =
      isGood
      ? ScriptedTransport.token()
      : ScriptedTransport.json(#"{"error":"invalid_grant"}"#, status: 400)
    let (fixture, page, _) = try await LoopbackRedirectTests.waiting(answer: { request in
      await server.pass()
      return try await answer(request)
    })
    let redirect = try page.redirect("code=abc")
    async let first = RawClient.get(redirect)
    try await server.isHolding()
    async let second = RawClient.get(redirect)
    // Each waiting page has its own time limit.
    try await eventually("both pages wait") { fixture.clock.sleepers == 2 }
    let other = try await RawClient.get(try page.redirect("code=other"))
    #expect(RawClient.status(other) == 400 && other.contains("This sign\u{2011}in is over"))
    server.open()
    let answers = [try await first, try await second]
    for answer in answers {
      #expect(RawClient.status(answer) == 200 && answer.contains(heading))
      expectSafe(answer)
    }
    #expect(fixture.http.requests.count == 1, "the code was sent once")
    #expect(await fixture.delegate.events(1).count == 1)
  }

  @Test func `a page loaded after the first one's time limit shows the result`()
    async throws
  {
    let server = Gate(isOpen: false)
    let (fixture, page, _) = try await LoopbackRedirectTests.waiting(answer: { request in
      await server.pass()
      return try await ScriptedTransport.token()(request)
    })
    let redirect = try page.redirect("code=abc")
    async let first = RawClient.get(redirect)
    try await server.isHolding()
    await fixture.clock.hasSleeper()
    fixture.clock.advance(by: 10)
    let early = try await first
    #expect(early.contains("Almost done"))
    async let second = RawClient.get(redirect)
    try await eventually("the second page waits") { fixture.clock.sleepers > 0 }
    server.open()
    let late = try await second
    #expect(late.contains("You are signed in"))
    #expect(fixture.http.requests.count == 1)
  }

  /// While the browser waits, it shows nothing to the user.
  @Test func `if the token request is slow, the page says that the sign-in is almost done`()
    async throws
  {
    let server = Gate(isOpen: false)
    let (fixture, page, _) = try await LoopbackRedirectTests.waiting(answer: { request in
      await server.pass()
      return try await ScriptedTransport.token()(request)
    })
    async let answer = RawClient.get(try page.redirect("code=abc"))
    try await server.isHolding()
    await fixture.clock.hasSleeper()
    fixture.clock.advance(by: 10)
    let shown = try await answer
    #expect(RawClient.status(shown) == 200 && shown.contains("Almost done"))
    expectSafe(shown)
    #expect(fixture.oauth.isSigningIn)
    server.open()
    #expect(await fixture.delegate.events(1) == [.authorized("T")])
  }
}
