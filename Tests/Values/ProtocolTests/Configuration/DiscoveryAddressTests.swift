import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// The addresses of an issuer's metadata.
///
/// RFC 8414, section 3, puts the well-known part between the host and the path. OpenID Connect puts
/// the well-known part after the path.
@Suite struct DiscoveryAddressTests {
  static func addresses(_ issuer: String) throws(SQOAuthError) -> [String] {
    try Discovery(issuer: issuer, timeout: .seconds(600)).addresses().map(\.absoluteString)
  }

  @Test(arguments: [
    ("https://example.com/.well-known/openid-configuration", "https://example.com"),
    ("https://example.com/t/.well-known/openid-configuration", "https://example.com/t"),
    ("https://example.com/.well-known/oauth-authorization-server/t", "https://example.com/t"),
  ])
  func `a metadata URL is rejected as an issuer, and the error names the right issuer`(
    address: String, issuer: String
  ) {
    let error = failure(.invalidConfiguration) { try Self.addresses(address) }
    #expect(error?.message.contains("\"\(issuer)\"") == true, "\(error?.message ?? "")")
    failure(.invalidConfiguration) {
      try ClientConfiguration(clientID: "id", provider: .issuer(address))
    }
  }

  @Test(arguments: [
    (
      "https://example.com",
      [
        "https://example.com/.well-known/oauth-authorization-server",
        "https://example.com/.well-known/openid-configuration",
      ]
    ),
    (
      "https://example.com/",
      [
        "https://example.com/.well-known/oauth-authorization-server",
        "https://example.com/.well-known/openid-configuration",
      ]
    ),
    (
      "https://example.com/issuer1",
      [
        "https://example.com/.well-known/oauth-authorization-server/issuer1",
        "https://example.com/.well-known/openid-configuration/issuer1",
        "https://example.com/issuer1/.well-known/openid-configuration",
      ]
    ),
    (
      "http://127.0.0.1:4593/api/glwd/",
      [
        "http://127.0.0.1:4593/.well-known/oauth-authorization-server/api/glwd",
        "http://127.0.0.1:4593/.well-known/openid-configuration/api/glwd",
        "http://127.0.0.1:4593/api/glwd/.well-known/openid-configuration",
      ]
    ),
    (
      "https://id.example:8443/a%20b",
      [
        "https://id.example:8443/.well-known/oauth-authorization-server/a%20b",
        "https://id.example:8443/.well-known/openid-configuration/a%20b",
        "https://id.example:8443/a%20b/.well-known/openid-configuration",
      ]
    ),
  ])
  func `the metadata URLs follow RFC 8414 and OpenID Connect, with RFC 8414's first`(
    issuer: String, expected: [String]
  ) throws {
    let addresses = try Self.addresses(issuer)
    #expect(addresses.first == expected.first)
    #expect(Set(addresses) == Set(expected))
    #expect(addresses.count == expected.count)
  }

  @Test(arguments: [
    "https://id.example?x=1", "https://id.example/?", "https://id.example#",
    "https://id.example/#x",
    "http://id.example", "id.example", "", "https://u@id.example", "ftp://id.example",
    "http://localhost.evil.com",
  ])
  func `a malformed or unencrypted issuer, or one with a query, fragment or user, is rejected`(
    issuer: String
  ) {
    failure { try Self.addresses(issuer) }
  }

  /// In the Model Context Protocol's order, two addresses have the well-known part before the path,
  /// and the last one has it after the path.
  @Test func `in MCP's order, the last URL has the well-known part after the path`() throws {
    let discovery = Discovery(
      issuer: "https://example.com/tenant1", timeout: .seconds(600), insertsWellKnownFirst: true)
    #expect(
      try discovery.addresses().map(\.absoluteString) == [
        "https://example.com/.well-known/oauth-authorization-server/tenant1",
        "https://example.com/.well-known/openid-configuration/tenant1",
        "https://example.com/tenant1/.well-known/openid-configuration",
      ])
  }
}
