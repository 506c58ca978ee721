import Testing

@testable import SQBasics
@testable import SequencingOAuth

/// How an incoming redirect is matched with the registered address, byte for byte.
@Suite struct RedirectMatchTests {
  static func query(_ incoming: String, _ registered: String) -> String? {
    RedirectMatch.query(of: incoming, for: registered).flatMap { String($0) }
  }

  static let loopback = "http://127.0.0.1:51004/cb"

  @Test(arguments: [
    "http://127.0.0.1:51004/cb?code=a", "HTTP://127.0.0.1:51004/cb?code=a",
    "http://127.0.0.1:51004/cb?code=a#fragment",
  ])
  func `the registered URI with a query matches`(incoming: String) {
    #expect(Self.query(incoming, Self.loopback) == "code=a")
  }

  @Test(arguments: [
    // another path
    "http://127.0.0.1:51004/cb/?code=a", "http://127.0.0.1:51004/cbx?code=a",
    "http://127.0.0.1:51004/c?code=a", "http://127.0.0.1:51004/CB?code=a",
    "http://127.0.0.1:51004/cb/more?code=a", "http://127.0.0.1:51004//cb?code=a",
    "http://127.0.0.1:51004/x/../cb?code=a", "http://127.0.0.1:51004/./cb?code=a",
    "http://127.0.0.1:51004/%63b?code=a", "http://127.0.0.1:51004/cb%2F?code=a",
    "http://127.0.0.1:51004/cb;x?code=a", "http://127.0.0.1:51004/cb%3Fcode=a",
    "http://127.0.0.1:51004/?code=a", "http://127.0.0.1:51004?code=a",
    "http://127.0.0.1:51004/cb%00?code=a", "http://127.0.0.1:51004/cb ?code=a",
    // another port
    "http://127.0.0.1:51005/cb?code=a", "http://127.0.0.1:5100/cb?code=a",
    "http://127.0.0.1:510040/cb?code=a", "http://127.0.0.1/cb?code=a",
    "http://127.0.0.1:051004/cb?code=a", "http://127.0.0.1:/cb?code=a",
    // another host
    "http://127.0.0.2:51004/cb?code=a", "http://localhost:51004/cb?code=a",
    "http://127.0.0.1.evil.example:51004/cb?code=a", "http://127%2E0.0.1:51004/cb?code=a",
    "http://evil.example/http://127.0.0.1:51004/cb?code=a", "http://127.1:51004/cb?code=a",
    "http://[::1]:51004/cb?code=a",
    // with user information
    "http://user@127.0.0.1:51004/cb?code=a", "http://@127.0.0.1:51004/cb?code=a",
    "http://127.0.0.1:51004@evil.example/cb?code=a", "http://u:p@127.0.0.1:51004/cb?code=a",
    // another or no scheme
    "https://127.0.0.1:51004/cb?code=a", "ftp://127.0.0.1:51004/cb?code=a",
    "http:/127.0.0.1:51004/cb?code=a", "//127.0.0.1:51004/cb?code=a", "/cb?code=a", "?code=a", "",
    " http://127.0.0.1:51004/cb?code=a", "http\\://127.0.0.1:51004/cb?code=a",
    "http:\\\\127.0.0.1:51004/cb?code=a",
    // the URI in another place than at the start
    "http://evil.example/?u=http://127.0.0.1:51004/cb?code=a",
    "http://evil.example/#http://127.0.0.1:51004/cb?code=a",
  ])
  func `an address that differs in path, port, host, user or scheme does not match`(
    incoming: String
  ) {
    #expect(RedirectMatch.query(of: incoming, for: Self.loopback) == nil)
    #expect(Redirect(redirectURI: Self.loopback).judge(incoming) == .notAddressed)
  }

  @Test func `an answer without a query matches but has no state`() {
    #expect(Redirect(redirectURI: Self.loopback).judge(Self.loopback) == .wrongState)
    #expect(Redirect(redirectURI: Self.loopback).judge(Self.loopback + "?") == .wrongState)
  }

  @Test(arguments: [
    ("authapp://Default/Authcallback", "authapp://Default/Authcallback?code=a", true),
    ("authapp://Default/Authcallback", "AUTHAPP://Default/Authcallback?code=a", true),
    ("authapp://Default/Authcallback", "authapp://default/Authcallback?code=a", false),
    ("authapp://Default/Authcallback", "authapp://Default/authcallback?code=a", false),
    ("authapp://Default/Authcallback", "authapp2://Default/Authcallback?code=a", false),
    ("authapp://Default/Authcallback", "authapp:/Default/Authcallback?code=a", false),
    ("com.example.app:/cb", "com.example.app:/cb?code=a", true),
    ("com.example.app:/cb", "COM.Example.App:/cb?code=a", true),
    ("com.example.app:/cb", "com.example.app://cb?code=a", false),
    ("com.example.app:/cb", "com.example.app.evil:/cb?code=a", false),
    ("com.example.app:/cb", "com.example.ap:/cb?code=a", false),
    ("com.example.app:cb", "com.example.app:cb?code=a", true),
    ("https://app.example/cb", "https://app.example/cb?code=a", true),
    ("https://app.example/cb", "https://app.example./cb?code=a", false),
    ("https://app.example/cb", "https://app.example:443/cb?code=a", false),
    ("https://app.example/cb", "https://app.example/cb/?code=a", false),
    ("https://app.example/cb", "https://app.example@evil.example/cb?code=a", false),
  ])
  func `a private or https redirect URI must match exactly, except for its scheme's letter case`(
    registered: String, incoming: String, matches: Bool
  ) {
    #expect((RedirectMatch.query(of: incoming, for: registered) != nil) == matches)
  }

  @Test(arguments: [
    ("com.example:/cb?tenant=7&code=a", "code=a"), ("com.example:/cb?tenant=7&", ""),
    ("com.example:/cb?tenant=7", ""), ("com.example:/cb?tenant=7&tenant=8", "tenant=8"),
  ])
  func `the registered query must come first and is removed from the answer's query`(
    incoming: String, query: String
  ) {
    #expect(Self.query(incoming, "com.example:/cb?tenant=7") == query)
  }

  @Test(arguments: [
    "com.example:/cb?code=a", "com.example:/cb?code=a&tenant=7", "com.example:/cb?tenant=77&code=a",
    "com.example:/cb?tenant=7code=a", "com.example:/cb?Tenant=7&code=a", "com.example:/cb",
    "com.example:/cb?tenant=%37&code=a", "com.example:/cb?tenant=7;code=a",
  ])
  func `an answer without the exact registered query does not match`(
    incoming: String
  ) {
    #expect(RedirectMatch.query(of: incoming, for: "com.example:/cb?tenant=7") == nil)
  }
}
