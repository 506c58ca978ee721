import Foundation
import SQBasics
import SequencingOAuth
import SequencingOAuthPipes
import Testing

@testable import TestSupport

/// The addresses of a pipeline's pipes, and the names by which pipes are found.
@Suite("Pipeline", .timeLimit(.minutes(1))) struct PipelineTests {
  @Test func `by default, a pipe's name is its path below the base URL`() async throws {
    let fixture = try await PipeFixture()
    _ = try await fixture.pipe.read()
    #expect(fixture.asked == ["GET https://api.example/v2/files"])
  }

  @Test(arguments: [
    ("about", "https://api.example/v2/about"),
    ("/about/", "https://api.example/v2/about"),
    ("files:search", "https://api.example/v2/files:search"),
    ("upload/files", "https://api.example/v2/upload/files"),
    ("files?alt=json", "https://api.example/v2/files?alt=json&q=a%20b"),
  ])
  func `a pipe's endpoint is a path below the base URL`(endpoint: String, url: String) async throws
  {
    let fixture = try await PipeFixture(PipeConfiguration(endpoint: endpoint))
    let parameters = url.contains("q=") ? ["q": "a b"] : [:]
    _ = try await fixture.pipe.read(parameters: parameters)
    #expect(fixture.asked == ["GET " + url])
  }

  @Test(arguments: [
    "https://evil.example/x", "//evil.example/x", "a/../b", "..", "a/%2e%2E/b", "a b", "a\\b",
    "a#b", "%zz", "é",
  ])
  func `an endpoint that is not a path below the base URL is rejected`(endpoint: String)
    async throws
  {
    let fixture = try await PipeFixture()
    failure(.invalidConfiguration) {
      try fixture.pipeline.add("x", PipeConfiguration(endpoint: endpoint))
    }
    #expect(fixture.pipeline.names == ["files"])
  }

  @Test(arguments: [
    ("api.example", SQOAuthError.Code.invalidConfiguration), ("", .invalidConfiguration),
    ("https://api.example/?a=b", .invalidConfiguration), ("ftp://a", .invalidConfiguration),
    ("https://u:p@api.example", .invalidConfiguration), ("http://api.example", .insecureEndpoint),
  ])
  func `an invalid or insecure base URL is rejected`(
    base: String, code: SQOAuthError.Code
  ) async throws {
    let module = try SessionFixture().module
    failure(code) { try Pipeline(base, module: module) }
  }

  @Test func `pipes are found by name and removed, and a name is unique`() async throws {
    let fixture = try await PipeFixture()
    let about = try fixture.pipeline.add("about me")
    #expect(fixture.pipeline.pipe(named: "about me") === about)
    #expect(fixture.pipeline.pipe(named: "files") === fixture.pipe)
    #expect(fixture.pipeline.pipe(named: "Files") == nil)
    #expect(fixture.pipeline.names == ["about me", "files"])
    let error = failure(.duplicateName) { try fixture.pipeline.add("files") }
    #expect(error?.message.contains("files") == true)
    #expect(fixture.pipeline.pipe(named: "files") === fixture.pipe)
    #expect(fixture.pipeline.remove("files") === fixture.pipe)
    #expect(fixture.pipeline.remove("files") == nil && fixture.pipeline.names == ["about me"])
    // A removed pipe still works for its owner, and its name can be used again.
    _ = try await fixture.pipe.read()
    try fixture.pipeline.add("files")
    _ = try await about.read()
    #expect(fixture.asked.last == "GET https://api.example/v2/about%20me")
  }

  @Test func `a pipe with a duplicate name does not allow its server to get the module's token`()
    async throws
  {
    let fixture = try await PipeFixture()
    let other = try await SessionFixture().restored()
    var configuration = PipeConfiguration()
    configuration.module = other.module
    failure(.duplicateName) { try fixture.pipeline.add("files", configuration) }
    // While the module has no allowed server, the first request allows its own server.
    #expect(try await other.module.send(.get("https://first.example/x")).status == 200)
    await failure(.originNotAllowed) {
      try await other.module.send(.get("https://api.example/v2/files"))
    }
  }

  @Test func `a pipe may use another module's token`() async throws {
    let fixture = try await PipeFixture()
    let other = try await SessionFixture().restored()
    other.api { _ in WebResponse(status: 200) }
    var configuration = PipeConfiguration()
    configuration.module = other.module
    let pipe = try fixture.pipeline.add("theirs", configuration)
    _ = try await pipe.read()
    #expect(other.requests == ["GET /v2/theirs T1"] && fixture.asked.isEmpty)
  }
}
