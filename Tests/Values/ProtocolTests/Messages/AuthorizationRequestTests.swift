import Foundation
import Testing

@testable import SequencingOAuth

@Suite struct AuthorizationRequestTests {
  static let pkce = PKCE(verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")

  static func url(
    endpoint: String = "https://server.example.com/authorize", clientID: String = "s6BhdRkqt3",
    redirectURI: String = "http://127.0.0.1:51004/cb", scope: String? = "demo",
    state: String = "xyz", nonce: String? = nil, extra: [FormCoding.Pair] = []
  ) throws -> String {
    let request = AuthorizationRequest(
      endpoint: try #require(URL(string: endpoint)), clientID: clientID, redirectURI: redirectURI,
      scope: scope, state: state, nonce: nonce, pkce: pkce, extraParameters: extra
    )
    return try request.url(with: request.parameters).absoluteString
  }

  /// Returns the query's pairs as Foundation reads them, without the code under test.
  static func query(_ url: String) throws -> [String: [String]] {
    let items = try #require(URLComponents(string: url)?.queryItems)
    return Dictionary(grouping: items, by: \.name).mapValues { $0.map { $0.value ?? "" } }
  }

  @Test func `the URL contains exactly the parameters of RFC 6749 and RFC 7636`() throws {
    let url = try Self.url()
    #expect(url.hasPrefix("https://server.example.com/authorize?"))
    #expect(
      try Self.query(url) == [
        "response_type": ["code"], "client_id": ["s6BhdRkqt3"],
        "redirect_uri": ["http://127.0.0.1:51004/cb"], "scope": ["demo"], "state": ["xyz"],
        "code_challenge": ["E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"],
        "code_challenge_method": ["S256"],
      ])
  }

  @Test(arguments: [
    "a&b", "a+b", "a b", "\u{FC}\u{20AC}\u{1F600}", "100%", "a=b", "a#b", "a?b", "a;b", "%41", "/",
    "http://x/?a=b&c=d",
  ])
  func `each query value decodes to the original value`(value: String) throws {
    let query = try Self.query(
      Self.url(
        clientID: value, redirectURI: value, scope: value, state: value,
        extra: [.init("login_hint", value)]))
    for name in ["client_id", "redirect_uri", "scope", "state", "login_hint"] {
      #expect(query[name] == [value], "\(name)")
    }
  }

  @Test func `the query has no character that parsers read differently`() throws {
    let url = try Self.url(scope: "a b+c", extra: [.init("x", "\"<>{}|\\^`\u{FC}")])
    #expect(EndpointURL.hasOnlyURLCharacters(url))
    #expect(!url.contains("+"), "a plus is a space to some servers and a plus to others")
    #expect(url.contains("scope=a%20b%2Bc"))
  }

  @Test(arguments: [("a b", "a%20b"), ("demo,external", "demo%2Cexternal"), ("a  b", "a%20%20b")])
  func `the scope is sent as it was written`(scope: String, encoded: String) throws {
    #expect(try Self.url(scope: scope).contains("scope=\(encoded)&"))
    #expect(try Self.query(Self.url(scope: scope))["scope"] == [scope])
  }

  @Test func `without a scope there is no scope parameter`() throws {
    #expect(try Self.query(Self.url(scope: nil))["scope"] == nil)
  }

  @Test(arguments: [
    ("https://s.example/a?tenant=7", "https://s.example/a?tenant=7&response_type=code&"),
    ("https://s.example/a?", "https://s.example/a?response_type=code&"),
    ("https://s.example/a?x=%2B+", "https://s.example/a?x=%2B+&response_type=code&"),
    ("https://s.example", "https://s.example?response_type=code&"),
    ("https://s.example/a/", "https://s.example/a/?response_type=code&"),
  ])
  func `the endpoint's own query is kept unchanged before the request's parameters`(
    endpoint: String, start: String
  ) throws {
    #expect(try Self.url(endpoint: endpoint).hasPrefix(start))
  }

  @Test func `the URL does not contain the verifier`() throws {
    #expect(!(try Self.url().contains(Self.pkce.verifier)))
  }

  @Test func `a nonce is sent as it is, and only if there is one`() throws {
    #expect(try Self.query(Self.url(nonce: "n-0S6_WzA2Mj"))["nonce"] == ["n-0S6_WzA2Mj"])
    #expect(try Self.query(Self.url(scope: "openid"))["nonce"] == nil)
  }
}
