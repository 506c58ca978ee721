import Foundation
import SQLoopback
import SequencingOAuth
import SequencingOAuthDiscovery
import Testing

@testable import TestSupport

/// A resource server whose metadata is wrong.
///
/// If no other address has valid metadata, the client stops with an error that names the address
/// and the rule, and sends no request to an authorization server.
///
/// - SeeAlso: RFC 9728, sections 3.3 and 7.6
@Suite(.timeLimit(.minutes(2))) struct HostileMetadataTests {
  private let party: Party

  init() throws { party = try Party() }

  /// Checks that a request ends the discovery with an error whose message contains `texts`.
  private func stops(
    _ texts: String..., asked addresses: [String]? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let error = await failure(.resourceMetadataInvalid, sourceLocation: sourceLocation) {
      try await party.client().send(party.request())
    }
    for text in texts {
      #expect(
        error?.message.contains(text) == true, "\(text): \(error?.message ?? "")",
        sourceLocation: sourceLocation)
    }
    let paths = party.journal.visits.map { "\($0.server) \($0.path)" }
    let metadata = addresses ?? ["resource \(party.resource.rules.metadataPath)"]
    let all = ["resource \(party.resource.rules.path)"] + metadata
    #expect(paths == all, sourceLocation: sourceLocation)
    #expect(party.browser.opened == [], sourceLocation: sourceLocation)
    #expect(try await party.store.all().isEmpty, sourceLocation: sourceLocation)
    party.expectNoFaults(sourceLocation: sourceLocation)
  }

  // MARK: Another resource

  @Test(arguments: [
    "/tools/mcp2", "/tools/other", "/tools/mcp/child", "/tools", "/tools/m", "/tools/", "/other",
    "/tools/mcp/", "/Tools/mcp", "/tools/mcp?a=b", "/tools/mcp#x", "/tools/%6dcp", "/tools/./mcp",
    "/", "",
  ])
  func `metadata of another resource of the same server ends the discovery`(path: String)
    async throws
  {
    party.resource.change { [party] in
      $0.path = "/tools/mcp"
      $0.metadataPath = "/.well-known/oauth-protected-resource/tools/mcp"
      $0.identifier = party.resource.origin + path
    }
    try await stops(
      party.resource.metadataAddress, "\(party.resource.origin)\(path)\"",
      "RFC 9728, section 3.3")
  }

  @Test func `metadata of a resource at another server ends the discovery`() async throws {
    let own = try #require(URL(string: party.resource.origin)?.port)
    for origin in [
      "http://127.0.0.1:\(own == 65_535 ? 1 : own + 1)", "http://127.0.0.1",
      "https://127.0.0.1:\(own)", "http://localhost:\(own)", "http://127.0.0.2:\(own)",
      "http://u@127.0.0.1:\(own)", "https://evil.example.com",
    ] {
      let party = try Party()
      party.resource.change { $0.identifier = "\(origin)/mcp" }
      let error = await failure(.resourceMetadataInvalid) {
        try await party.client().send(party.request())
      }
      #expect(error?.message.contains("\"\(origin)/mcp\"") == true, "\(origin)")
      #expect(party.visits(at: "first").isEmpty && party.browser.opened == [])
      party.expectNoFaults()
    }
  }

  @Test func `metadata at the root well-known URL must be that of the origin`() async throws {
    party.resource.change {
      $0.namesMetadata = false
      $0.metadataPath = "/.well-known/oauth-protected-resource"
    }
    try await stops(
      party.resource.metadataAddress, "must describe \(party.resource.origin)",
      asked: [
        "resource /.well-known/oauth-protected-resource/mcp",
        "resource /.well-known/oauth-protected-resource",
      ])
  }

  // MARK: The address in the challenge

  @Test(arguments: [
    "https://evil.example.com/.well-known/oauth-protected-resource",
    "http://127.0.0.2/metadata", "https://127.0.0.1/metadata", "http://evil.example.com/metadata",
    "/.well-known/oauth-protected-resource/mcp", "metadata", "file:///etc/passwd",
    "http://u:p@127.0.0.1/metadata",
  ])
  func `instead of a malformed or foreign resource_metadata URL, the well-known URLs are requested`(
    address: String
  ) async throws {
    party.resource.change {
      $0.namesMetadata = false
      $0.challenge = #"resource_metadata="\#(address)""#
    }
    try await party.works()
    #expect(
      party.addresses(at: "resource") == ["/mcp", "/.well-known/oauth-protected-resource/mcp"])
  }

  @Test(arguments: [nil, "https://evil.example.com/mcp"])
  func `a foreign resource_metadata URL does not relax the rules of the well-known URLs`(
    identifier: String?
  ) async throws {
    party.resource.change { [party] in
      $0.namesMetadata = false
      $0.challenge = #"resource_metadata="\#(party.first.origin)/metadata""#
      $0.identifier = identifier
      if identifier == nil { $0.metadataPath = "/elsewhere" }
    }
    let wellKnown = "/.well-known/oauth-protected-resource"
    guard identifier == nil else {
      return try await stops("another resource", asked: ["resource \(wellKnown)/mcp"])
    }
    try await stops(
      "another server", party.first.origin, "\(wellKnown)/mcp (status 404",
      asked: ["resource \(wellKnown)/mcp", "resource \(wellKnown)"])
  }

  @Test func `if a challenge has two resource_metadata URLs, the well-known URLs are used`()
    async throws
  {
    let own = "\(party.resource.origin)/elsewhere"
    party.resource.change { [party] in
      $0.namesMetadata = false
      $0.challenge =
        #"resource_metadata="\#(own)", resource_metadata="\#(party.first.origin)/metadata""#
    }
    // A challenge with a repeated parameter is malformed, so the client uses the well-known
    // addresses.
    try await party.works()
    #expect(
      party.addresses(at: "resource") == ["/mcp", "/.well-known/oauth-protected-resource/mcp"])
    #expect(party.paths(at: "first").allSatisfy { $0 != "/metadata" })
  }

  // MARK: The answer

  @Test(arguments: [301, 302, 303, 307, 308])
  func `a redirect of the metadata is not followed`(status: Int) async throws {
    let path = party.resource.rules.metadataPath
    party.resource.change { [party] in
      let target = party.first.origin + "/metadata"
      $0.replies[path] = { _ in .status(status, [("Location", target)]) }
    }
    try await stops(party.resource.metadataAddress, "\(status)")
  }

  /// Bodies that are no usable metadata, and what the error says about them.
  private static let bodies: [(body: String, type: String, rule: String)] = [
    (#"{"resource":"R","authorization_servers":[]}"#, "application/json", "names no authorization"),
    (#"{"resource":"R"}"#, "application/json", "names no authorization server"),
    (#"{"authorization_servers":["S"]}"#, "application/json", "resource"),
    (#"{"resource":7,"authorization_servers":["S"]}"#, "application/json", "resource"),
    (#"{"resource":"R","authorization_servers":"S"}"#, "application/json", "authorization_servers"),
    (#"{"resource":"R","authorization_servers":[1]}"#, "application/json", "authorization_servers"),
    (
      #"{"resource":"R","authorization_servers":["ftp://x"]}"#, "application/json",
      "without an https URL"
    ),
    (
      #"{"resource":"R","authorization_servers":["S#f"]}"#, "application/json",
      "without an https URL"
    ),
    (
      #"{"resource":"R","authorization_servers":["http://id.example"]}"#, "application/json",
      "without an https URL"
    ),
    (
      #"{"resource":"X","resource":"R","authorization_servers":["S"]}"#, "application/json",
      "cannot be read"
    ),
    ("<html></html>", "text/html", "is not JSON"),
    (#"{"resource":"R","authorization_servers":["S"]}"#, "text/html", "is not JSON"),
    ("<html></html>", "application/json", "cannot be read"), ("", "application/json", "be read"),
    ("[]", "application/json", "cannot be read"),
    (String(repeating: "[", count: 100_000), "application/json", "cannot be read"),
    (
      #"{"resource":"R","authorization_servers":["S"],"a":"#
        + String(repeating: "[", count: 9_000) + String(repeating: "]", count: 9_000) + "}",
      "application/json", "cannot be read"
    ),
    (
      #"{"resource":"R","authorization_servers":["S"],"a":""#
        + String(repeating: "x", count: 5 << 20) + #""}"#, "application/json", "larger than 256 KiB"
    ),
  ]

  @Test(arguments: bodies.indices)
  func `malformed or unusable metadata ends the discovery`(index: Int) async throws {
    let (body, type, rule) = Self.bodies[index]
    let path = party.resource.rules.metadataPath
    let text = body.replacing(#""R""#, with: "\"\(party.resource.address)\"")
      .replacing("\"S", with: "\"\(party.first.issuer)")
    party.resource.change {
      $0.replies[path] = { _ in .text(text, type: type) }
    }
    try await stops(party.resource.metadataAddress, rule)
  }

  @Test func `metadata that names a hundred authorization servers is refused`() async throws {
    party.resource.change { [party] in
      $0.issuers = (0..<100).map { "\(party.first.origin)/\($0)" }
    }
    try await stops(party.resource.metadataAddress, "names 100 authorization servers")
  }

  @Test(arguments: [400, 401, 403, 404, 410])
  func `if no URL has metadata, the discovery fails and the error names every URL`(status: Int)
    async throws
  {
    party.resource.change {
      $0.namesMetadata = false
      for path in ["/mcp", ""] {
        $0.replies["/.well-known/oauth-protected-resource\(path)"] = { _ in .status(status) }
      }
    }
    let wellKnown = "\(party.resource.origin)/.well-known/oauth-protected-resource"
    try await stops(
      "\(wellKnown)/mcp (status \(status)", "\(wellKnown) (status \(status)",
      asked: [
        "resource /.well-known/oauth-protected-resource/mcp",
        "resource /.well-known/oauth-protected-resource",
      ])
  }

  @Test(arguments: [404, 410])
  func `if the resource_metadata URL does not exist, the well-known URLs are requested`(status: Int)
    async throws
  {
    party.resource.change { [party] in
      $0.namesMetadata = false
      $0.challenge = #"resource_metadata="\#(party.resource.origin)/elsewhere""#
      $0.replies["/elsewhere"] = { _ in .status(status) }
    }
    try await party.works()
    #expect(
      party.paths(at: "resource").prefix(3) == [
        "/mcp", "/elsewhere", "/.well-known/oauth-protected-resource/mcp",
      ])
  }

  @Test func `if a well-known URL returns a web page, the next well-known URL is requested`()
    async throws
  {
    party.resource.change { [party] in
      $0.namesMetadata = false
      $0.replies["/.well-known/oauth-protected-resource/mcp"] = { _ in
        .text("<html></html>", type: "text/html; charset=utf-8")
      }
      $0.metadataPath = "/.well-known/oauth-protected-resource"
      $0.identifier = party.resource.origin
    }
    try await party.works()
    #expect(
      party.paths(at: "resource").prefix(3) == [
        "/mcp", "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-protected-resource",
      ])
  }

  @Test func `if all well-known URLs return web pages, the discovery fails`() async throws {
    party.resource.change {
      $0.namesMetadata = false
      for path in ["/mcp", ""] {
        $0.replies["/.well-known/oauth-protected-resource\(path)"] = { _ in
          .text("<html></html>", type: "text/html")
        }
      }
    }
    try await stops(
      "/mcp (a web page", "-resource (a web page",
      asked: [
        "resource /.well-known/oauth-protected-resource/mcp",
        "resource /.well-known/oauth-protected-resource",
      ])
  }

  @Test(arguments: [500, 503, 429])
  func `a 429, 500 or 503 response ends the discovery without a request to another URL`(status: Int)
    async throws
  {
    party.resource.change {
      $0.namesMetadata = false
      $0.replies["/.well-known/oauth-protected-resource/mcp"] = { _ in .status(status) }
      $0.metadataPath = "/.well-known/oauth-protected-resource"
    }
    let error = await failure(.serverError) { try await party.client().send(party.request()) }
    #expect(error?.status == status)
    #expect(
      party.paths(at: "resource") == ["/mcp", "/.well-known/oauth-protected-resource/mcp"])
    #expect(party.visits(at: "first").isEmpty)
  }
}
