import Foundation
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// The query that is already in the address of an authorization endpoint.
///
/// - SeeAlso: RFC 6749, section 3.1
@Suite struct AuthorizationEndpointTests {
  @Test(arguments: [
    "client_id=evil", "tenant=a&state=1", "redirect%5Furi=https://evil.example", "scope=",
    "request_uri=x", "code_challenge_method=plain",
  ])
  func `an endpoint query with a parameter that each request sets is refused`(query: String) throws
  {
    let endpoint = try #require(URL(string: "https://id.example/authorize?\(query)"))
    failure(.signInUnsupported) { try AuthorizationRequest.check(endpoint) }
  }

  @Test(arguments: ["", "?", "?tenant=a%20b", "?client=a&x_state=1"])
  func `an endpoint query without protocol parameters is accepted`(query: String) throws {
    let endpoint = try #require(URL(string: "https://id.example/authorize\(query)"))
    try AuthorizationRequest.check(endpoint)
  }
}
