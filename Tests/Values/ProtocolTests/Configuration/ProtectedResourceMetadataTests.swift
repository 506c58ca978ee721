import Foundation
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// The document of a resource server about itself.
///
/// - SeeAlso: RFC 9728, sections 2 and 3.1
struct ProtectedResourceMetadataTests {
  private static let wellKnown = "/.well-known/oauth-protected-resource"

  @Test(arguments: [
    ("https://api.example", "https://api.example/W"),
    ("https://api.example/", "https://api.example/W"),
    ("https://api.example/mcp", "https://api.example/W/mcp"),
    ("https://api.example/mcp/", "https://api.example/W/mcp/"),
    ("https://api.example/a/b", "https://api.example/W/a/b"),
    ("https://api.example/a%20b", "https://api.example/W/a%20b"),
    ("https://api.example/mcp?x=/y", "https://api.example/W/mcp?x=/y"),
    ("https://api.example?x=y", "https://api.example/W?x=y"),
    ("https://api.example/?x=y", "https://api.example/W?x=y"),
    ("https://api.example:8443/mcp", "https://api.example:8443/W/mcp"),
    ("https://[2001:db8::1]:8443/mcp", "https://[2001:db8::1]:8443/W/mcp"),
    ("http://127.0.0.1:8080/mcp", "http://127.0.0.1:8080/W/mcp"),
  ])
  func `the well-known part stands between the host and the path`(
    resource: String, address: String
  ) throws {
    let expected = address.replacing("/W", with: Self.wellKnown)
    #expect(try ProtectedResourceMetadata.address(of: resource).absoluteString == expected)
  }

  @Test(arguments: [
    ("http://api.example/mcp", SQOAuthError.Code.insecureEndpoint),
    ("https://api.example/mcp#part", .invalidConfiguration), ("/mcp", .invalidConfiguration),
    ("https://user@api.example/mcp", .invalidConfiguration), ("", .invalidConfiguration),
    ("urn:example:api", .invalidConfiguration),
  ])
  func `a resource identifier without https, or with a user or fragment, is rejected`(
    resource: String, code: SQOAuthError.Code
  ) {
    failure(code) { try ProtectedResourceMetadata.address(of: resource) }
  }

  // MARK: Documents

  private var full: ProtectedResourceMetadata {
    var metadata = ProtectedResourceMetadata(
      resource: "https://api.example/mcp", authorizationServers: ["https://id.example"],
      scopes: ["read", "write"], name: "Files")
    metadata.documentation = "https://api.example/docs"
    metadata.jwksURI = "https://api.example/keys"
    metadata.proofAlgorithms = ["ES256"]
    metadata.requiresProof = true
    metadata.bindsTokensToCertificates = true
    metadata.additionalMembers = ["resource_policy_uri": "https://api.example/policy"]
    return metadata
  }

  @Test func `metadata is unchanged after it is written as a document and read again`() throws {
    let plain = ProtectedResourceMetadata(
      resource: "https://api.example", authorizationServers: ["https://id.example/"])
    for metadata in [full, plain] {
      #expect(try ProtectedResourceMetadata(document: metadata.document()) == metadata)
    }
  }

  @Test func `a document uses the member names of RFC 9728`() throws {
    let members = try JSONDecoder().decode([String: JSONValue].self, from: full.document())
    let expected: [String: JSONValue] = [
      "resource": "https://api.example/mcp", "authorization_servers": ["https://id.example"],
      "scopes_supported": ["read", "write"], "resource_name": "Files",
      "resource_documentation": "https://api.example/docs",
      "jwks_uri": "https://api.example/keys", "dpop_signing_alg_values_supported": ["ES256"],
      "dpop_bound_access_tokens_required": true,
      "tls_client_certificate_bound_access_tokens": true, "bearer_methods_supported": ["header"],
      "resource_policy_uri": "https://api.example/policy",
    ]
    #expect(members == expected)
  }

  @Test func `a document that clients would refuse is not written`() {
    var metadata = full
    metadata.authorizationServers = []
    failure(.invalidConfiguration) { try metadata.document() }
    metadata.authorizationServers = ["http://id.example"]
    failure(.insecureEndpoint) { try metadata.document() }
    metadata = full
    metadata.resource = "https://api.example/mcp#part"
    failure(.invalidConfiguration) { try metadata.document() }
  }

  @Test func `optional members of a wrong type count as missing`() throws {
    let metadata = try ProtectedResourceMetadata(
      document: Data(
        #"""
        {"resource":"https://api.example","authorization_servers":["https://id.example"],
         "scopes_supported":"read","resource_name":7,"dpop_signing_alg_values_supported":[1],
         "dpop_bound_access_tokens_required":"true"}
        """#.utf8))
    #expect(metadata.scopes == nil && metadata.name == nil && metadata.proofAlgorithms == nil)
    #expect(!metadata.requiresProof)
  }

  @Test(arguments: [
    #"{"authorization_servers":["https://id.example"]}"#, #"{"resource":7}"#, "[]", "", "null",
    #"{"resource":"https://api.example","authorization_servers":"https://id.example"}"#,
    #"{"resource":"https://api.example","authorization_servers":[["https://id.example"]]}"#,
    #"{"resource":"https://a.example","resource":"https://b.example"}"#,
    #"{"resource":"https://a.example","authorization_servers":[],"authorization_servers":["s"]}"#,
  ])
  func `an unreadable document is an error`(text: String) {
    failure(.resourceMetadataInvalid) { try ProtectedResourceMetadata(document: Data(text.utf8)) }
  }
}
