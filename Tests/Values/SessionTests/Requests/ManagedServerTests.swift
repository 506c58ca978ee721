import Foundation
import SequencingOAuth
import SequencingOAuthPipes
import Testing

@testable import TestSupport

/// The servers that may get a token of an account that a manager created.
@Suite(.timeLimit(.minutes(1))) struct ManagedServerTests {
  private let fixture: SessionFixture
  private let manager: AccountManager

  init() async throws {
    fixture = try await SessionFixture().restored()
    fixture.api { _ in WebResponse(status: 200, body: Data("{}".utf8)) }
    manager = AccountManager(store: fixture.store, environment: fixture.oauth.environment)
  }

  private func account(
    listing servers: String...
  ) async throws -> AuthorizationModule {
    var client = try #require(fixture.module.configuration)
    client.resourceOrigins = try Set(servers.map { try ResourceOrigin($0) })
    return try await manager.account(client, id: "default")
  }

  private func reached() -> [String?] { fixture.apiRequests.map { $0.url.host() } }

  @Test func `the first request allows no server, before or after the account is released`()
    async throws
  {
    for _ in 0..<2 {
      let account = try await account()
      let error = await failure(.originNotAllowed) {
        try await account.send(.get("https://api.example/1"))
      }
      await failure(.originNotAllowed) { try await account.authenticate(.get("https://b.example")) }
      let line = #"resourceOrigins = [try ResourceOrigin("https://api.example:443")]"#
      #expect(error?.message.hasSuffix(line) == true)
      manager.release(id: "default")
    }
    #expect(reached().isEmpty)
  }

  @Test func `the listed server gets the token, before and after the account is released`()
    async throws
  {
    for _ in 0..<2 {
      let account = try await account(listing: "https://api.example:443")
      #expect(try await account.send(.get("https://api.example/1")).status == 200)
      await failure(.originNotAllowed) { try await account.send(.get("https://evil.example/")) }
      manager.release(id: "default")
    }
    #expect(reached() == ["api.example", "api.example"])
  }

  @Test func `the provider's servers and the servers that the app names get the token`()
    async throws
  {
    let account = try await account()
    #expect(try await account.send(.get("https://id.example/api/me")).status == 200)
    let pipe = try Pipeline("https://pipe.example/v1", module: account).add("files")
    _ = try await pipe.read()
    let error = await failure(.originNotAllowed) {
      try await account.send(.get("https://api.example/"))
    }
    // A list replaces the pipe's server, so the line names that server too.
    let servers = ["api", "pipe"].map { #"try ResourceOrigin("https://\#($0).example:443")"# }
    let line = "resourceOrigins = [\(servers.joined(separator: ", "))]"
    #expect(error?.message.hasSuffix(line) == true)
    try account.allowTokens(at: "https://api.example")
    #expect(try await account.send(.get("https://api.example/")).status == 200)
    #expect(reached() == ["id.example", "pipe.example", "api.example"])
  }
}
