import Foundation
import SequencingOAuth
import Testing

@testable import SequencingOAuthDiscovery
@testable import TestSupport

/// The search for the metadata of a resource on another computer, with a scripted transport.
struct ResourceDiscoveryTests {
  private let http = ScriptedTransport()
  private var environment: ClientEnvironment {
    var environment = ClientEnvironment()
    environment.transport = http
    return environment
  }

  private func find(
    _ issuers: [String], at address: String = "https://api.example/mcp", named: String? = nil
  ) async throws -> DiscoveredResource {
    let list = issuers.map { "\"\($0)\"" }.joined(separator: ",")
    http.answer(
      ScriptedTransport.json(#"{"resource":"\#(address)","authorization_servers":[\#(list)]}"#))
    return try await ResourceDiscovery(
      resource: ResourceAddress(address), environment: environment, timeout: .seconds(10)
    ).find(named: named)
  }

  /// At an address on this computer, any local program may answer instead of the real server.
  @Test(arguments: [
    "http://127.0.0.1:8080", "https://127.0.0.1", "https://127.1.2.3", "https://localhost:8443",
    "https://LOCALHOST", "https://localhost.", "https://a.localhost", "https://[::1]",
    "https://127.1", "https://2130706433", "https://0x7f000001", "https://0.0.0.0",
    "https://[::ffff:127.0.0.1]", "https://[::]", "https://id.example\",\"https://127.0.0.1",
  ])
  func `a remote resource cannot name an authorization server on this computer`(issuer: String)
    async throws
  {
    let error = await failure(.resourceMetadataInvalid) { try await find([issuer]) }
    #expect(error?.message.contains("on this computer") == true, "\(error?.message ?? "")")
    #expect(
      error?.message.contains("https://api.example/.well-known/oauth-protected-resource/mcp")
        == true)
    #expect(http.requests.count == 1)
  }

  @Test func `a resource on this computer may name an authorization server on this computer`()
    async throws
  {
    let found = try await find(["http://127.0.0.1:8080"], at: "http://127.0.0.1:9000/mcp")
    #expect(found.metadata.authorizationServers == ["http://127.0.0.1:8080"])
  }

  @Test(arguments: ["http://id.example", "https://id.example#a", "id.example", "ftp://id.example"])
  func `an issuer with a fragment or without the https scheme is refused`(issuer: String)
    async throws
  {
    let error = await failure(.resourceMetadataInvalid) { try await find([issuer]) }
    #expect(error?.message.contains("without an https URL") == true)
  }

  @Test func `the steps of a discovery have the requested URLs and their results`() async throws {
    let answer = ScriptedTransport.json(
      #"{"resource":"https://api.example","authorization_servers":["https://id.example"]}"#)
    http.answer { request in
      request.url.path().hasSuffix("/mcp")
        ? WebResponse(status: 404) : try await answer(request)
    }
    let found = try await ResourceDiscovery(
      resource: ResourceAddress("https://api.example/mcp"), environment: environment,
      timeout: .seconds(10)
    ).find(named: nil)
    #expect(
      found.steps.map(\.address) == [
        "https://api.example/.well-known/oauth-protected-resource/mcp",
        "https://api.example/.well-known/oauth-protected-resource",
      ])
    #expect(found.steps[0].finding.contains("404"))
    #expect(found.steps[1].finding.contains("https://api.example"))
  }

  /// Behind a proxy that ends TLS, a server may take its own scheme for http.
  @Test func `instead of a resource_metadata URL with http, the https well-known URL is requested`()
    async throws
  {
    let address = "//api.example/.well-known/oauth-protected-resource/mcp"
    let found = try await find(["https://id.example"], named: "http:\(address)")
    #expect(found.metadata.authorizationServers == ["https://id.example"])
    #expect(http.requests.map(\.url.absoluteString) == ["https:\(address)"])
  }

  /// The query of a resource's address may be a key.
  @Test(arguments: [
    (1, "https://api.example/mcp?key=SECRET"), (1, "https://api.example"),
    (3, "https://api.example/mcp?key=SECRET"),
  ])
  func `neither a step nor an error has the query of the resource's address`(
    answered: Int, described: String
  ) async throws {
    let answer = ScriptedTransport.json(
      #"{"resource":"\#(described)","authorization_servers":["https://id.example"]}"#)
    http.answer { [http] request in
      http.requests.count == answered ? try await answer(request) : WebResponse(status: 404)
    }
    let discovery = try ResourceDiscovery(
      resource: ResourceAddress("https://api.example/mcp?key=SECRET"), environment: environment,
      timeout: .seconds(10))
    var texts: [String] = []
    do {
      texts = try await discovery.find(named: nil).steps.flatMap { [$0.address, $0.finding] }
    } catch {
      texts = [error.message]
    }
    #expect(!texts.isEmpty && http.requests.count == answered)
    for text in texts { #expect(!text.contains("SECRET"), "\(text)") }
  }

  @Test(arguments: [([404, 404], 404), ([403, 403], 403), ([401, 404], nil)] as [([Int], Int?)])
  func `the error of a failed discovery has a status only if all URLs returned this status`(
    statuses: [Int], expected: Int?
  ) async throws {
    http.answer { request in
      WebResponse(status: statuses[request.url.path().hasSuffix("/mcp") ? 0 : 1])
    }
    let error = await failure(.resourceMetadataInvalid) {
      try await ResourceDiscovery(
        resource: ResourceAddress("https://api.example/mcp"), environment: environment,
        timeout: .seconds(10)
      ).find(named: nil)
    }
    #expect(error?.status == expected && error?.cause is NoResourceMetadata)
    for status in statuses {
      #expect(error?.message.contains("status \(status)") == true, "\(error?.message ?? "")")
    }
  }

  @Test func `a metadata request has a size limit, a time limit and no credentials`() async throws {
    _ = try await find(["https://id.example"])
    let request = try #require(http.requests.first)
    #expect(request.maximumResponseBytes == 256 * 1024 && request.timeout == .seconds(10))
    #expect(request.headers["Authorization"] == nil && request.method == "GET")
  }
}
