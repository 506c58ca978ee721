import SequencingOAuth
import Testing

@testable import sq_demo

/// Which account a call uses, by the URL alone.
@Suite struct CallTargetTests {
  private func record(
    _ id: String, issuer: String? = nil, _ attributes: [String: String] = [:]
  ) -> AccountRecord {
    AccountRecord(
      id: id, clientID: "app", issuer: issuer, token: SQToken(accessToken: "a"),
      attributes: attributes)
  }

  @Test(arguments: [
    // Without listed servers, an account is for its own server.
    ("https://id.example.com", nil, "https://id.example.com/me", true),
    ("https://id.example.com/realm", nil, "https://id.example.com/me", true),
    ("https://id.example.com", nil, "https://api.example.com/me", false),
    ("https://id.example.com", nil, "https://id.example.com:8443/me", false),
    // An account that lists its servers is used for no other server.
    ("https://id.example.com", "https://api.example.com", "https://api.example.com/me", true),
    (
      "https://id.example.com", "https://a.example.com https://b.example.com",
      "https://b.example.com/", true
    ),
    ("https://id.example.com", "https://api.example.com", "https://id.example.com/me", false),
  ])
  func `an account is used for its listed servers, or else for the origin of its issuer`(
    issuer: String, listed: String?, url: String, fits: Bool
  ) throws {
    let attributes = listed.map { ["resource_origins": $0] } ?? [:]
    let target = try CallTarget(url)
    #expect(target.isReached(by: record("default", issuer: issuer, attributes)) == fits)
    #expect(!target.isNamed(by: record("default", issuer: issuer, attributes)))
  }

  @Test func `the account of the most specific resource is used`() throws {
    func resource(_ id: String) -> AccountRecord {
      record(
        id, issuer: "https://id.example.com",
        ["resource": id, "resource_origins": "https://api.example.com"])
    }
    let origin = resource("https://api.example.com")
    let path = resource("https://api.example.com/mcp")
    let target = try CallTarget("https://api.example.com/mcp")
    #expect(target.resources(among: [origin, path]).map(\.id) == [path.id])
    #expect(target.resources(among: [origin]).map(\.id) == [origin.id])
    let other = try CallTarget("https://api.example.com/other")
    #expect(other.resources(among: [path]).isEmpty)
    #expect(other.resources(among: [path, origin]).map(\.id) == [origin.id])
    #expect(target.isNamed(by: path) && !target.isReached(by: path))
    #expect(try !CallTarget("https://else.example.com/").isNamed(by: path))
    // The ID of this record is the resource's URL, but its attributes name no resource.
    #expect(target.resources(among: [record(path.id)]).isEmpty)
    // Returns another user's account for the resource of `path`.
    func user(_ id: String) -> AccountRecord {
      record(id, issuer: "https://id.example.com", path.attributes)
    }
    #expect(target.resources(among: [origin, user("alice")]).map(\.id) == ["alice"])
    #expect(target.resources(among: [user("alice"), user("bob")]).count == 2)
    #expect(target.resources(among: [user("alice"), path, user("bob")]).map(\.id) == [path.id])
  }

  @Test func `an account's attributes keep the resource of its tokens for later calls`() throws {
    var client = try ClientConfiguration(
      clientID: "app", redirectURI: "http://127.0.0.1/callback",
      provider: .issuer("https://id.example.com"))
    #expect(KeptClient(client, at: .issuer("https://id.example.com")).identifiers.isEmpty)
    client.resources = ["https://api.example.com/mcp"]
    let kept = KeptClient(client, at: .issuer("https://id.example.com"))
    #expect(kept.attributes["resource"] == "https://api.example.com/mcp")
    let options = try SignInArguments(Arguments([], options: []), orAccount: true)
    let completed = try options.completed(
      by: record("x", issuer: "https://id.example.com", kept.attributes))
    #expect(completed.configuration?.resources == ["https://api.example.com/mcp"])
  }

  @Test(arguments: [
    (["https://a.example/x"], "GET", "https://a.example/x"), (["/me"], "GET", nil),
    (["post", "https://a.example/x"], "POST", "https://a.example/x"),
  ])
  func `without a method, a call is a GET`(words: [String], method: String, url: String?) throws {
    let arguments = try Arguments(words, forms: Call.forms, options: Call.options)
    let request = try CallRequest(arguments)
    #expect(request.address == url)
    let http = try request.http(body: .empty, at: "https://id.example", answerLimit: .seconds(1))
    #expect(http.method == method)
  }

  /// The command line is checked before the account is loaded.
  @Test(arguments: ["/a b", "/a%2", "/a\\b", "/a?b=\u{E9}", "https://a.example/a b"])
  func `a URL or a path with a wrong character is rejected before the account is known`(
    url: String
  ) throws {
    let arguments = try Arguments(["GET", url], forms: Call.forms, options: Call.options)
    let failure = #expect(throws: Failure.self) { try CallRequest(arguments) }
    #expect(failure?.code == "malformed_request" && failure?.status == .wrongUsage)
  }

  @Test func `a call without a URL is rejected, with or without a method`() throws {
    let arguments = try Arguments(["GET"], forms: Call.forms, options: Call.options)
    #expect(
      throws: Failure.usage(
        "URL is missing; write https://HOST/PATH, or /PATH at the account's server")
    ) { try CallRequest(arguments) }
    #expect(throws: Failure.usage("URL is missing")) {
      try Arguments([], forms: Call.forms, options: Call.options)
    }
    #expect(Help.page(Call.self).contains("Usage: sq-demo call [METHOD] URL [OPTIONS]"))
  }
}
