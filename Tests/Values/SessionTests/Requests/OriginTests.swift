import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// Which servers may get a token.
@Suite("Resource origins", .timeLimit(.minutes(1))) struct OriginTests {
  @Test(
    "an origin is the URL's scheme, host and port in lower case",
    arguments: [
      ("https://api.example", "https://api.example:443"),
      ("https://api.example/", "https://api.example:443"),
      ("HTTPS://API.Example:443/a?b#c", "https://api.example:443"),
      ("https://api.example:8443/x", "https://api.example:8443"),
      ("http://127.0.0.1:8080/x", "http://127.0.0.1:8080"),
      ("http://localhost", "http://localhost:80"), ("http://[::1]:9/", "http://[::1]:9"),
      ("https://api.example./", "https://api.example.:443"),
    ])
  func origin(url: String, description: String) throws {
    #expect(try ResourceOrigin(url).description == description)
    let parsed = try #require(URL(string: url))
    #expect(try ResourceOrigin(parsed) == ResourceOrigin(url))
  }

  @Test(
    "an insecure or malformed URL cannot be an origin and gets no token",
    arguments: [
      ("http://api.example/", SQOAuthError.Code.insecureEndpoint),
      ("http://127.0.0.1.evil.example/", .insecureEndpoint),
      ("http://localhost.evil.example/", .insecureEndpoint),
      ("http://128.0.0.1/", .insecureEndpoint), ("http://[::2]/", .insecureEndpoint),
      ("http://10.0.0.1/", .insecureEndpoint), ("http://127.1/", .insecureEndpoint),
      ("http://a.localhost/", .insecureEndpoint), ("http://0.0.0.0/", .insecureEndpoint),
      ("http://[::ffff:127.0.0.1]/", .insecureEndpoint), ("http://0x7f.1/", .insecureEndpoint),
      ("http://localhost./", .insecureEndpoint), ("http://127.0.0.01/", .insecureEndpoint),
      ("https://api.example@evil.example/", .malformedRequest),
      ("https://user:s3cr3t@api.example/", .malformedRequest),
      ("http://127.0.0.1@evil.example/", .malformedRequest),
      ("http://127.0.0.1:80@evil.example/", .malformedRequest),
      ("https://api.example:99999/", .malformedRequest),
      ("https://api.example:0/", .malformedRequest), ("ftp://api.example/", .malformedRequest),
      ("file:///etc/passwd", .malformedRequest), ("/relative", .malformedRequest),
      ("https:///path", .malformedRequest), ("https:api.example/x", .malformedRequest),
    ])
  func refused(url: String, code: SQOAuthError.Code) async throws {
    failure(code) { try ResourceOrigin(url) }
    let fixture = try await SessionFixture().restored()
    fixture.clock.advance(by: 3600)
    let request = try WebRequest.get(url)
    let error = await failure(code) { try await fixture.module.authenticate(request) }
    await failure(code) { try await fixture.module.send(request) }
    #expect(fixture.requests.isEmpty, "the token is not even refreshed for it")
    #expect(error.map { !everyText(of: $0).contains("s3cr3t") } ?? false)
  }

  /// Texts that two URL parsers read differently.
  ///
  /// `URL` may even reject them.
  @Test(arguments: [
    #"https://api.example\@evil.example/"#, "https://api.example%2F@evil.example/",
    "https://api.exa mple/", "https://api.example\n.evil.example/", "https://[api.example]/",
    "https://api.example:443:80/", "https://", "", "https://ａpi.example/",
  ])
  func `a URL that parsers read differently is rejected`(url: String) {
    failure(.malformedRequest) { try ResourceOrigin(url) }
  }

  @Test func `only an allowed origin gets the token`() async throws {
    let allowed: Set = try [
      ResourceOrigin("https://api.example"), ResourceOrigin("http://127.0.0.1:8080"),
    ]
    let fixture = try await SessionFixture(change: { $0.resourceOrigins = allowed }).restored()
    fixture.api { _ in WebResponse(status: 200) }
    for url in [
      "https://api.example/a", "https://API.example:443/", "https://api.example?x",
      "http://127.0.0.1:8080/",
    ] {
      _ = try await fixture.module.authenticate(.get(url))
      #expect(try await fixture.module.send(.get(url)).status == 200)
    }
    let sent = fixture.requests.count
    for url in [
      "https://evil.example/", "https://api.example:8443/", "https://api.example.evil.example/",
      "https://evil.example/?https://api.example", "https://evil.example/#api.example",
      "https://sub.api.example/", "https://api.example./", "http://127.0.0.1:8081/",
      "http://127.0.0.1/", "https://127.0.0.1:8080/", "http://[::1]:8080/",
    ] {
      let error = await failure(.originNotAllowed) {
        try await fixture.module.authenticate(.get(url))
      }
      await failure(.originNotAllowed) { try await fixture.module.send(.get(url)) }
      #expect(error.map { !everyText(of: $0).contains("T1") } ?? false)
    }
    await failure(.insecureEndpoint) {
      try await fixture.module.authenticate(.get("http://api.example/"))
    }
    #expect(fixture.requests.count == sent)
  }

  @Test func `a redirect of an API is returned and not followed`() async throws {
    let fixture = try await SessionFixture().restored()
    fixture.api { _ in
      WebResponse(status: 302, headers: ["Location": "https://evil.example/"])
    }
    let response = try await fixture.module.send(.get("https://api.example/"))
    #expect(response.status == 302 && fixture.apiRequests.count == 1)
  }
}
