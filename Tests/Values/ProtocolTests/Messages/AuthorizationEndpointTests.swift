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

  @Test(arguments: [
    "prompt", "response_mode", "dpop_jkt", "resource", "claims", "acr_values", "login_hint", "a b",
  ])
  func `an endpoint query that repeats an extra parameter of the request is refused`(name: String)
    throws
  {
    let query = FormCoding.encodeQuery([.init("tenant", "a"), .init(name, "x")])
    let endpoint = "https://id.example/authorize?\(query)"
    let error = failure(.signInUnsupported) {
      try AuthorizationRequestTests.url(endpoint: endpoint, extra: [.init(name, "y")])
    }
    #expect(error?.message.contains("the parameter \"\(name)\", which the SDK sets") == true)
    let url = try AuthorizationRequestTests.url(endpoint: endpoint, extra: [.init("x", "y")])
    #expect(url.hasPrefix(endpoint + "&response_type=code&"))
  }

  @Test(arguments: ["", "?", "?tenant=a%20b", "?client=a&x_state=1"])
  func `an endpoint query without protocol parameters is accepted`(query: String) throws {
    let endpoint = try #require(URL(string: "https://id.example/authorize\(query)"))
    try AuthorizationRequest.check(endpoint)
  }
}
