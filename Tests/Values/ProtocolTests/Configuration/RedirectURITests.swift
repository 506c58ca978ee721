import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// RFC 8252, section 7: the redirect URIs that an app may use.
@Suite struct RedirectURITests {
  static func loopback(_ text: String) throws -> LoopbackRedirect? {
    guard case .loopback(let redirect) = try RedirectURI(text).kind else { return nil }
    return redirect
  }

  @Test(arguments: [
    ("http://127.0.0.1/callback", "127.0.0.1", nil, "/callback", nil),
    ("http://127.0.0.1:0/callback", "127.0.0.1", 0, "/callback", nil),
    ("http://127.0.0.1:8080/callback", "127.0.0.1", 8080, "/callback", nil),
    ("http://[::1]/callback", "[::1]", nil, "/callback", nil),
    ("http://[::1]:65535/", "[::1]", 65535, "/", nil),
    ("http://localhost:8080/callback", "localhost", 8080, "/callback", nil),
    ("http://127.0.0.1", "127.0.0.1", nil, "", nil),
    ("http://127.0.0.1/cb?tenant=7", "127.0.0.1", nil, "/cb", "tenant=7"),
    ("http://127.0.0.1/a%20b/c", "127.0.0.1", nil, "/a%20b/c", nil),
  ])
  func `the SDK receives an http redirect on a loopback address`(
    text: String, host: String, port: UInt16?, path: String, query: String?
  ) throws {
    let redirect = try #require(try Self.loopback(text))
    #expect(redirect.host == host)
    #expect((redirect.port ?? 0) == (port ?? 0))
    #expect(redirect.path == path)
    #expect(redirect.query == query)
  }

  @Test(arguments: [
    ("http://127.0.0.1/cb", "http://127.0.0.1:51004/cb"),
    ("http://127.0.0.1:0/cb", "http://127.0.0.1:51004/cb"),
    ("http://[::1]/cb", "http://[::1]:51004/cb"),
    ("http://localhost/cb?a=b", "http://localhost:51004/cb?a=b"),
    ("http://127.0.0.1", "http://127.0.0.1:51004"),
    ("http://127.0.0.1/", "http://127.0.0.1:51004/"),
    ("http://127.0.0.1:/cb", "http://127.0.0.1:51004/cb"),
    ("HTTP://LocalHost/Cb?a=b", "HTTP://LocalHost:51004/Cb?a=b"),
  ])
  func `the listener's port is put into the redirect URI, and nothing else changes`(
    text: String, bound: String
  ) throws {
    #expect(try Self.loopback(text)?.uri(port: 51004) == bound)
  }

  @Test func `a URI with a port is sent as it was registered`() throws {
    for text in [
      "http://127.0.0.1:8080/cb?x=%2B", "http://[::1]:8080", "http://localhost:8080/",
      "http://LOCALHOST:08080/cb", "HTTP://[::1]:08080/cb",
    ] {
      let redirect = try #require(try Self.loopback(text))
      #expect(redirect.uri(port: 8080) == text)
      #expect(ClientMetadata(redirectURIs: [text]).members["redirect_uris"] == [.string(text)])
      let incoming = "\(redirect.base(port: 8080))?\(redirect.query.map { "\($0)&" } ?? "")code=c"
      #expect(RedirectMatch.query(of: incoming, for: text).map(String.init) == "code=c")
    }
  }

  @Test(arguments: [
    "com.example.app:/callback", "com.example.app://callback", "com.example.app:callback",
    "authapp://Default/Authcallback", "https://app.example/callback", "https://app.example",
    "com.example.app:/cb?tenant=7", "COM.Example.App:/cb", "urn:ietf:wg:oauth:2.0:oob:auto",
  ])
  func `the app receives redirects to private schemes and https`(text: String) throws {
    let redirect = try RedirectURI(text)
    #expect(redirect.kind == .app)
    #expect(redirect.string == text)
  }

  @Test(arguments: [
    ("authapp://Default/Authcallback", true), ("myapp:/cb", true), ("com.example.app:/cb", false),
    ("https://app.example/cb", false), ("http://127.0.0.1/cb", false),
  ])
  func `a private scheme without a dot is reported as weak`(text: String, isWeak: Bool) throws {
    #expect(try RedirectURI(text).hasWeakScheme == isWeak)
  }

  @Test(arguments: [
    // http on a host that is not loopback
    "http://app.example/cb", "http://10.0.0.1/cb", "http://0.0.0.0/cb", "http://[::]/cb",
    "http://127.1/cb", "http://0x7f000001/cb", "http://localhost.evil.com/cb",
    "http://127.0.0.1.evil.com/cb", "http://[::ffff:127.0.0.1]/cb", "http://2130706433/cb",
    // fragments and user information
    "http://127.0.0.1/cb#", "http://127.0.0.1/cb#x", "com.example.app:/cb#x",
    "https://app.example/cb#x", "http://user@127.0.0.1/cb", "https://user:pw@app.example/cb",
    "http://127.0.0.1@evil.com/cb",
    // not absolute, or not a URL
    "", " ", "callback", "/callback", "//127.0.0.1/cb", "http:", "http://", "https://",
    "https:///cb",
    ":/cb", "1app:/cb", "my app:/cb", "my_app:/cb", "http://127.0.0.1/a b",
    "http://127.0.0.1/\u{FC}",
    "http://127.0.0.1\\cb", "http://127.0.0.1/cb\n", "com.example.app:/cb ",
    "http://127.0.0.1:x/cb",
    "http://127.0.0.1:65536/cb", "http://127.0.0.1:-1/cb",
    // schemes that a browser runs, or that never return to the app
    "javascript:alert(1)", "JavaScript:alert(1)", "data:text/html,x", "file:///tmp/cb",
    "about:blank", "blob:x", "vbscript:x", "ftp://127.0.0.1/cb", "ws://127.0.0.1/cb",
    "wss://app.example/cb",
  ])
  func `an unsupported or malformed redirect URI is rejected with a reason`(text: String) {
    let error = failure(.invalidConfiguration) { try RedirectURI(text) }
    #expect(error?.message.isEmpty == false)
  }
}
