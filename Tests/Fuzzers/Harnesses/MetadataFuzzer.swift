import FoundationEssentials

@testable import SQBasics
@testable import SequencingOAuth

extension Fuzzer {
  /// A fuzzer for the metadata document of an authorization server.
  static let metadata = Fuzzer("metadata") { input in
    for issuer in ["https://id.example.com", "http://127.0.0.1:8080/tenant"] {
      let metadata: ProviderMetadata
      do throws(SQOAuthError) {
        metadata = try ProviderMetadata(document: input, issuer: issuer)
      } catch {
        try require(error.description.isHarmless, "the error shows as \(error.description)")
        try require(error.description.utf8.count < 8_000, "a long error")
        continue
      }
      try require(metadata.issuer?.hasSameBytes(as: issuer) == true, "another issuer")
      let endpoints = [
        metadata.authorizationEndpoint, metadata.tokenEndpoint, metadata.refreshEndpoint,
        metadata.revocationEndpoint, metadata.jwksURI, metadata.userInfoEndpoint,
        metadata.endSessionEndpoint, metadata.deviceAuthorizationEndpoint,
        metadata.introspectionEndpoint, metadata.registrationEndpoint,
      ]
      for endpoint in endpoints.compactMap(\.self) { try check(endpoint, of: issuer) }
      try requireReadAgain(metadata, issuer: issuer)
    }
  }

  private static func check(_ endpoint: URL, of issuer: String) throws {
    let text = endpoint.absoluteString
    try require(text.isASCII(withSpaces: false) && !text.contains("#"), "an endpoint \(text)")
    try require(endpoint.user == nil && endpoint.password == nil, "a user in \(text)")
    guard let target = try? RequestTarget(endpoint) else {
      throw Finding(description: "no request can go to \(text)")
    }
    let mayBePlain = issuer.hasPrefix("http:") && target.isLoopback
    try require(target.isSecure || mayBePlain, "a token would go in clear to \(text)")
  }

  private static func requireReadAgain(_ metadata: ProviderMetadata, issuer: String) throws {
    var members: [String: JSONValue] = [
      "issuer": .string(issuer),
      "token_endpoint": .string(metadata.tokenEndpoint.absoluteString),
      "authorization_response_iss_parameter_supported": .bool(metadata.sendsIssuerInResponse),
      "require_pushed_authorization_requests": .bool(
        metadata.requiresPushedAuthorizationRequests),
      "require_signed_request_object": .bool(metadata.requiresSignedRequestObjects),
    ]
    let endpoints = [
      "authorization_endpoint": metadata.authorizationEndpoint,
      "revocation_endpoint": metadata.revocationEndpoint, "jwks_uri": metadata.jwksURI,
      "userinfo_endpoint": metadata.userInfoEndpoint,
      "end_session_endpoint": metadata.endSessionEndpoint,
      "device_authorization_endpoint": metadata.deviceAuthorizationEndpoint,
      "introspection_endpoint": metadata.introspectionEndpoint,
      "registration_endpoint": metadata.registrationEndpoint,
    ]
    for (name, url) in endpoints { members[name] = url.map { .string($0.absoluteString) } }
    let lists = [
      "token_endpoint_auth_methods_supported": metadata.clientAuthenticationMethods,
      "revocation_endpoint_auth_methods_supported": metadata.revocationAuthenticationMethods,
      "code_challenge_methods_supported": metadata.codeChallengeMethods,
      "response_types_supported": metadata.responseTypes,
      "grant_types_supported": metadata.grantTypes,
      "scopes_supported": metadata.scopes, "response_modes_supported": metadata.responseModes,
      "id_token_signing_alg_values_supported": metadata.idTokenAlgorithms,
      "userinfo_signing_alg_values_supported": metadata.userInfoAlgorithms,
      "acr_values_supported": metadata.authenticationContextClasses,
      "claims_supported": metadata.claims, "prompt_values_supported": metadata.prompts,
    ]
    for (name, list) in lists { members[name] = list.map { .array($0.map(JSONValue.string)) } }
    let document = try JSONEncoder().encode(JSONValue.object(members))
    let again = try? ProviderMetadata(document: document, issuer: issuer)
    var usable = metadata
    usable.optionalEndpoints = metadata.optionalEndpoints.filter { $0.value.url != nil }
    try require(again == usable, "the metadata reads differently when it is written again")
  }
}
