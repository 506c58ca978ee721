import Foundation
import SequencingOAuth
import Testing

@testable import SequencingOAuthDiscovery
@testable import TestSupport

/// The addresses of a resource's metadata, and the identifiers that the metadata may name.
///
/// - SeeAlso: RFC 9728, sections 3.1 and 3.3
struct ResourceAddressTests {
  /// A resource's address, the addresses of its metadata, and the identifiers allowed in each.
  struct Row: Sendable, CustomStringConvertible {
    let address: String
    let candidates: [(url: String, identifiers: [String])]

    var description: String { address }
  }

  private static let wellKnown = "/.well-known/oauth-protected-resource"

  private static let rows: [Row] = [
    Row(
      address: "https://api.example",
      candidates: [
        ("https://api.example\(wellKnown)", ["https://api.example", "https://api.example/"])
      ]),
    Row(
      address: "https://api.example/",
      candidates: [
        ("https://api.example\(wellKnown)", ["https://api.example", "https://api.example/"])
      ]),
    Row(
      address: "https://api.example/mcp",
      candidates: [
        ("https://api.example\(wellKnown)/mcp", ["https://api.example/mcp"]),
        ("https://api.example\(wellKnown)", ["https://api.example", "https://api.example/"]),
      ]),
    Row(
      address: "https://[::1]:8443/a/b",
      candidates: [
        ("https://[::1]:8443\(wellKnown)/a/b", ["https://[::1]:8443/a/b"]),
        ("https://[::1]:8443\(wellKnown)", ["https://[::1]:8443", "https://[::1]:8443/"]),
      ]),
    Row(
      address: "http://127.0.0.1:80/mcp#part",
      candidates: [
        (
          "http://127.0.0.1\(wellKnown)/mcp", ["http://127.0.0.1/mcp", "http://127.0.0.1:80/mcp"]
        ),
        (
          "http://127.0.0.1\(wellKnown)",
          ["http://127.0.0.1", "http://127.0.0.1/", "http://127.0.0.1:80", "http://127.0.0.1:80/"]
        ),
      ]),
    Row(
      address: "HTTPS://API.Example:443/Mcp",
      candidates: [
        (
          "https://api.example\(wellKnown)/Mcp",
          ["https://api.example/Mcp", "HTTPS://API.Example:443/Mcp"]
        ),
        (
          "https://api.example\(wellKnown)",
          [
            "https://api.example", "https://api.example/", "HTTPS://API.Example:443",
            "HTTPS://API.Example:443/",
          ]
        ),
      ]),
  ]

  @Test(arguments: rows)
  func `the metadata URLs and identifiers are derived from the resource's URL`(row: Row) throws {
    let candidates = try ResourceAddress(row.address).candidates()
    #expect(candidates.map(\.url.absoluteString) == row.candidates.map(\.url))
    for (found, expected) in zip(candidates, row.candidates) {
      #expect(Set(found.identifiers) == Set(expected.identifiers))
    }
  }

  @Test func `a resource's identifier may have the query of its URL or none`() throws {
    let address = try ResourceAddress("https://api.example/mcp?tenant=a")
    #expect(
      address.identifiers == [
        "https://api.example/mcp?tenant=a", "https://api.example/mcp", "https://api.example",
        "https://api.example/",
      ])
    let first = try #require(try address.candidates().first)
    #expect(
      Set(first.identifiers) == ["https://api.example/mcp?tenant=a", "https://api.example/mcp"])
  }

  @Test func `the well-known URL keeps the query of the resource's URL`() throws {
    let addresses = try ResourceAddress("https://api.example/mcp?tenant=a").candidates()
      .map(\.url.absoluteString)
    #expect(addresses.first == "https://api.example\(Self.wellKnown)/mcp?tenant=a")
  }

  @Test(arguments: [
    "http://api.example/mcp", "ftp://api.example", "api.example", "", "https://",
    "https://u:p@api.example/mcp", "https://api.example/a b", "http://127.0.0.1.example/mcp",
  ])
  func `a resource URL that is insecure or malformed is refused`(text: String) {
    failure { try ResourceAddress(text) }
  }

  // MARK: The address in a challenge

  @Test func `metadata at another URL of the same server may name only the resource itself`() throws
  {
    let address = try ResourceAddress("https://api.example/mcp")
    let candidate = try address.candidate(named: "https://api.example/custom")
    #expect(candidate.identifiers == ["https://api.example/mcp"])
    // A URL with the default port names the same server. Metadata at the server's well-known
    // address may still name the whole server.
    let same = try address.candidate(named: "https://API.example:443/custom")
    #expect(same.identifiers == ["https://api.example/mcp"])
    let root = try address.candidate(named: "https://api.example\(Self.wellKnown)")
    #expect(Set(root.identifiers) == ["https://api.example", "https://api.example/"])
  }

  @Test(arguments: [
    "https://evil.example/x", "https://api.example:8443/x", "http://api.example/x",
    "https://api.example.evil.example/x", "https://api.example@evil.example/x", "/x", "",
    "https://api.example/x#y", "javascript:alert(1)",
  ])
  func `a resource_metadata URL that is malformed or at another origin is refused`(text: String)
    throws
  {
    let address = try ResourceAddress("https://api.example/mcp")
    let error = failure(.resourceMetadataInvalid) { try address.candidate(named: text) }
    #expect(error?.message.contains("resource_metadata") == true)
  }
}
