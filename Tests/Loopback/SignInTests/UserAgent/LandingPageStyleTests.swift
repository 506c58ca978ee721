import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// The landing page with an app's name and colours.
@Suite(.timeLimit(.minutes(1))) struct LandingPageStyleTests {
  /// Returns the landing page of a sign-in with this style.
  static func page(
    _ style: LandingPageStyle, answering query: String = "code=abc"
  ) async throws -> String {
    let fixture = OAuthFixture(browser: OAuthFixture.idle)
    fixture.oauth.environment.landingPage = style
    try fixture.register(redirectURI: "http://127.0.0.1/cb")
    fixture.oauth.authorizeUser()
    let answer = try await RawClient.get(try await fixture.isWaiting().redirect(query))
    #expect(await fixture.delegate.events(1).count == 1)
    return answer
  }

  @Test(arguments: [
    ("code=abc", "go back to \u{2068}Files\u{2069}."),
    ("error=access_denied", "go back to \u{2068}Files\u{2069}"),
    ("error=server_error", "\u{2068}Files\u{2069} has the details"),
  ])
  func `the pages for success, denial and failure show the app's name`(
    query: String, sentence: String
  ) async throws {
    let page = try await Self.page(LandingPageStyle(appName: "Files"), answering: query)
    #expect(page.contains(sentence))
    #expect(page.contains(" · Files</title>"))
    #expect(page.contains(">Files</span>"))
    #expect(!page.contains("the app") && !page.contains("The app"))
    LandingPageTests().expectSafe(page)
  }

  @Test func `the page for a wrong state shows the app's name and no part of the request`()
    async throws
  {
    let fixture = OAuthFixture(browser: OAuthFixture.idle)
    fixture.oauth.environment.landingPage = LandingPageStyle(appName: "Files")
    try fixture.register(redirectURI: "http://127.0.0.1/cb")
    fixture.oauth.authorizeUser()
    let page = try await fixture.isWaiting()
    let answer = try await RawClient.get(try page.forged("code=C4N4RY&state=x"))
    #expect(RawClient.status(answer) == 400 && answer.contains("Files"))
    LandingPageTests().expectSafe(answer)
    fixture.oauth.cancelSignIn()
  }

  @Test(arguments: [
    "</style><script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "'\"`;}*{color:red}",
    "</title><base href=https://evil.example>", "%3Cscript%3E", "&lt;script&gt;",
    "a\r\nSet-Cookie: a=b", "\u{202E}evil", "\u{2066}evil", "javascript:alert(1)",
  ])
  func `a name is shown as text, never as markup`(name: String) async throws {
    let page = try await Self.page(LandingPageStyle(appName: name))
    let parts = page.split(separator: "\r\n\r\n", maxSplits: 1).map(String.init)
    #expect(!parts[0].contains("\r\nSet-Cookie"))
    let body = parts[1]
    for markup in ["<script", "<img", "<base", "</style><", "\u{202E}", "\u{2066}"] {
      #expect(!body.contains(markup), "\(markup)")
    }
    // The name adds no element: the page has the same elements as a page with a plain name.
    let plain = try await Self.page(LandingPageStyle(appName: "Files"))
    #expect(Self.elements(of: page) == Self.elements(of: plain))
    let policy = parts[0].split(separator: "\r\n").first {
      $0.hasPrefix("Content-Security-Policy:")
    }
    #expect(policy?.contains("default-src 'none'; style-src 'nonce-") == true)
  }

  private static func elements(of page: String) -> [Substring] {
    page.split(separator: "<").dropFirst().map {
      $0.prefix { $0.isLetter || $0 == "/" || $0 == "!" }
    }
  }

  @Test(arguments: [
    (nil, nil), ("", nil), (" \n\t ", nil), ("\u{202E}", nil), (" My   Files ", "My Files"),
    (String(repeating: "x", count: 500), String(repeating: "x", count: 60)),
    (
      "e" + String(repeating: "\u{301}", count: 9_000),
      "e" + String(repeating: "\u{301}", count: 239)
    ),
    ("\u{1F469}\u{200D}\u{1F4BB} Code", "\u{1F469}\u{200D}\u{1F4BB} Code"),
  ])
  func `a name is cleaned and shortened, and an empty one is omitted`(
    name: String?, shown: String?
  ) async throws {
    let page = try await Self.page(LandingPageStyle(appName: name))
    let title = "<title>You are signed in" + (shown.map { " · \($0)" } ?? "") + "</title>"
    #expect(page.contains(title))
    #expect(page.contains("class=\"brand\"") == (shown != nil))
  }

  @Test func `the colors are in the page's only style element`() async throws {
    let style = LandingPageStyle(
      appName: "Files", accent: try PageColor("#7A1FA2"),
      background: PageColor(red: 0xFF, green: 0xF8, blue: 0xE1),
      darkBackground: try PageColor("#120016"))
    let page = try await Self.page(style)
    #expect(page.contains("--tile:#7a1fa2;") && page.contains("--page:#fff8e1;"))
    #expect(
      page.contains("--page:#120016;") && page.contains("rx=&#39;8&#39; fill=&#39;%237a1fa2&#39;"))
    #expect(page.components(separatedBy: "<style").count == 2)
    LandingPageTests().expectSafe(page)
  }

  @Test func `without a style the page has its default look`() async throws {
    let page = try await Self.page(LandingPageStyle())
    #expect(!page.contains("--tile:#") && !page.contains("class=\"brand\""))
    #expect(page.contains("<title>You are signed in</title>") && page.contains("the app."))
  }

  // MARK: - Colours

  @Test(
    arguments: [
      ("#0f6b5c", 0x0F, 0x6B, 0x5C), ("#FFFFFF", 0xFF, 0xFF, 0xFF), ("#000000", 0, 0, 0),
      ("#AbCdEf", 0xAB, 0xCD, 0xEF),
    ] as [(String, UInt8, UInt8, UInt8)])
  func `a color is read from its hexadecimal form`(
    text: String, red: UInt8, green: UInt8, blue: UInt8
  ) throws {
    let color = try PageColor(text)
    #expect(color == PageColor(red: red, green: green, blue: blue))
    #expect("\(color)" == text.lowercased())
  }

  @Test(arguments: [
    "", "#", "red", "#fff", "#0f6b5c80", "0f6b5c", "#+f6b5c", "#-00001", "#0f6b5g", " #0f6b5c",
    "#0f6b5c;", "#\u{FF10}f6b5", "url(https://evil.example)", "#0f6b\u{E9}", "rgb(1,2,3)",
  ])
  func `a text that is not # and six hexadecimal digits is rejected as a color`(text: String) {
    let error = failure(.invalidConfiguration) { try PageColor(text) }
    #expect(error?.message.contains("#0f6b5c") == true)
  }
}
