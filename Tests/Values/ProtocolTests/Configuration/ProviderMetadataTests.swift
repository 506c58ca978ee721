import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// RFC 8414, section 3.3, and the other rules for a metadata document.
@Suite struct ProviderMetadataTests {
  static let issuer = "https://id.example/tenant"

  static func read(_ body: String, issuer: String = issuer) throws(SQOAuthError)
    -> ProviderMetadata
  {
    try ProviderMetadata(document: Data(body.utf8), issuer: issuer)
  }

  static func document(_ changes: [String: String?] = [:]) -> String {
    var members: [String: String?] = [
      "issuer": #""https://id.example/tenant""#,
      "authorization_endpoint": #""https://id.example/authorize?t=1""#,
      "token_endpoint": #""https://id.example/token""#,
      "revocation_endpoint": #""https://id.example/revoke""#,
    ]
    members.merge(changes) { $1 }
    return "{"
      + members.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }
      .joined(separator: ",") + "}"
  }

  @Test func `endpoints, lists and flags of a document are read, and an unknown member is ignored`()
    throws
  {
    let metadata = try Self.read(
      Self.document([
        "token_endpoint_auth_methods_supported": #"["client_secret_post","none"]"#,
        "code_challenge_methods_supported": #"["plain","S256"]"#,
        "authorization_response_iss_parameter_supported": "true",
        "revocation_endpoint_auth_methods_supported": #"["none"]"#,
        "jwks_uri": #""https://id.example/keys""#,
        "userinfo_endpoint": #""https://id.example/me""#,
        "end_session_endpoint": #""https://id.example/out""#,
        "device_authorization_endpoint": #""https://id.example/device""#,
        "introspection_endpoint": #""https://id.example/introspect""#,
        "registration_endpoint": #""https://id.example/register""#,
        "id_token_signing_alg_values_supported": #"["RS256"]"#,
        "userinfo_signing_alg_values_supported": #"["ES256"]"#,
        "scopes_supported": #"["openid"]"#, "response_modes_supported": #"["form_post"]"#,
        "claims_supported": #"["name"]"#, "prompt_values_supported": #"["none"]"#,
        "acr_values_supported": #"["gold"]"#, "unknown": "{}",
        "response_types_supported": #"["code"]"#, "grant_types_supported": #"["implicit"]"#,
        "require_pushed_authorization_requests": "true", "require_signed_request_object": "true",
      ]))
    #expect(metadata.issuer == Self.issuer)
    #expect(metadata.authorizationEndpoint?.absoluteString == "https://id.example/authorize?t=1")
    #expect(metadata.tokenEndpoint.absoluteString == "https://id.example/token")
    #expect(metadata.refreshEndpoint == metadata.tokenEndpoint)
    #expect(metadata.revocationEndpoint?.absoluteString == "https://id.example/revoke")
    #expect(metadata.clientAuthenticationMethods == ["client_secret_post", "none"])
    #expect(metadata.revocationAuthenticationMethods == ["none"])
    #expect(metadata.codeChallengeMethods == ["plain", "S256"])
    #expect(metadata.sendsIssuerInResponse)
    #expect(metadata.jwksURI?.absoluteString == "https://id.example/keys")
    #expect(metadata.userInfoEndpoint?.absoluteString == "https://id.example/me")
    #expect(metadata.endSessionEndpoint?.absoluteString == "https://id.example/out")
    #expect(
      metadata.deviceAuthorizationEndpoint?.absoluteString == "https://id.example/device")
    #expect(metadata.introspectionEndpoint?.absoluteString == "https://id.example/introspect")
    #expect(metadata.registrationEndpoint?.absoluteString == "https://id.example/register")
    #expect(metadata.idTokenAlgorithms == ["RS256"] && metadata.userInfoAlgorithms == ["ES256"])
    #expect(metadata.scopes == ["openid"] && metadata.responseModes == ["form_post"])
    #expect(metadata.claims == ["name"] && metadata.prompts == ["none"])
    #expect(metadata.authenticationContextClasses == ["gold"])
    #expect(metadata.responseTypes == ["code"] && metadata.grantTypes == ["implicit"])
    #expect(metadata.requiresPushedAuthorizationRequests && metadata.requiresSignedRequestObjects)
  }

  @Test func `missing lists and endpoints are nil, and a missing flag is false`() throws {
    let metadata = try Self.read(Self.document(["revocation_endpoint": nil]))
    #expect(metadata.clientAuthenticationMethods == nil)
    #expect(metadata.revocationAuthenticationMethods == nil)
    #expect(metadata.codeChallengeMethods == nil)
    #expect(metadata.revocationEndpoint == nil)
    #expect(!metadata.sendsIssuerInResponse)
  }

  @Test(arguments: [
    "https://id.example/tenant/", "https://id.example/tenan", "https://id.example/tenant1",
    "https://ID.example/tenant", "HTTPS://id.example/tenant", "http://id.example/tenant",
    "https://id.example:443/tenant", "https://id.example/Tenant", "https://evil.example", "",
    "https://id.example/ten%61nt", " https://id.example/tenant",
  ])
  func `an issuer that differs in any character is rejected`(issuer: String) {
    failure(.issuerMismatch) { try Self.read(Self.document(["issuer": "\"\(issuer)\""])) }
  }

  /// Swift's `==` takes U+212A, the kelvin sign, for the letter K, and U+037E for the semicolon.
  @Test(arguments: [#"https://id.example/\u212A"#, "https://id.example/\u{212A}"])
  func `an issuer with different characters that Unicode treats as equal is rejected`(
    issuer: String
  ) {
    failure(.issuerMismatch) {
      try Self.read(
        Self.document(["issuer": "\"\(issuer)\""]), issuer: "https://id.example/K")
    }
  }

  @Test func `the issuer mismatch error for a multi-tenant document mentions the tenant`() {
    let issuer = "https://login.example/{tenantid}/v2.0"
    let error = failure(.issuerMismatch) {
      try Self.read(Self.document(["issuer": "\"\(issuer)\""]))
    }
    #expect(error?.message.contains("tenant") == true && error?.message.contains(issuer) == true)
    #expect(error?.message.contains("exactly this text") == false)
  }

  @Test func `a document without an issuer is rejected`() {
    let error = failure(.invalidResponse) { try Self.read(Self.document(["issuer": nil])) }
    #expect(error?.message.contains("issuer") == true)
  }

  @Test(arguments: ["authorization_endpoint", "token_endpoint"])
  func `an unusable authorization or token endpoint is rejected`(name: String) {
    for value in ["1", "[]", "\"/relative\"", "\"https://u@id.example/x\""] {
      failure(.invalidResponse) { try Self.read(Self.document([name: value])) }
    }
  }

  @Test(arguments: [nil, "null", #""""#])
  func `the token endpoint is required, and the authorization endpoint is optional`(
    value: String?
  ) throws {
    failure(.invalidResponse) { try Self.read(Self.document(["token_endpoint": value])) }
    let metadata = try Self.read(Self.document(["authorization_endpoint": value]))
    #expect(metadata.authorizationEndpoint == nil)
  }

  @Test(arguments: ["authorization_endpoint", "token_endpoint"])
  func `an http endpoint in https metadata is rejected`(name: String) {
    failure(.insecureEndpoint) {
      try Self.read(Self.document([name: #""http://id.example/x""#]))
    }
    // A remote server must not make the client send the code to a program on this machine.
    failure(.insecureEndpoint) {
      try Self.read(Self.document([name: #""http://127.0.0.1:8080/x""#]))
    }
    failure { try Self.read(Self.document([name: #""https://id.example/x#f""#])) }
  }

  @Test(arguments: ["", "[]", "null", "{", "<html>", "\"a\"", "{}"])
  func `a document that is not metadata is rejected without a crash`(body: String) {
    failure { try Self.read(body) }
  }

  @Test(arguments: ["\"S256\"", "[1]", "{}", "true", #"["S256",null]"#])
  func `an unreadable list of PKCE challenge methods is rejected`(value: String) {
    failure(.invalidResponse) {
      try Self.read(Self.document(["code_challenge_methods_supported": value]))
    }
  }

  static let lists: [(String, [String]?)] = [
    (#""a""#, ["a"]), (#"["a",null,"b"]"#, ["a", "b"]), (#"["a",1]"#, ["a"]), ("[]", []),
    ("[1]", nil), ("[null]", nil), (#"{"a":"b"}"#, nil), ("5", nil), ("true", nil), ("null", nil),
    (#""""#, nil),
  ]

  @Test(arguments: lists)
  func `the readable elements of a list other than the PKCE methods are used`(
    value: String, list: [String]?
  ) throws {
    let members: [(String, KeyPath<ProviderMetadata, [String]?>)] = [
      ("token_endpoint_auth_methods_supported", \.clientAuthenticationMethods),
      ("token_endpoint_auth_signing_alg_values_supported", \.clientAssertionAlgorithms),
      ("revocation_endpoint_auth_methods_supported", \.revocationAuthenticationMethods),
      ("introspection_endpoint_auth_methods_supported", \.introspectionAuthenticationMethods),
      ("protected_resources", \.protectedResources),
      ("scopes_supported", \.scopes),
      ("response_modes_supported", \.responseModes),
      ("response_types_supported", \.responseTypes),
      ("grant_types_supported", \.grantTypes),
      ("authorization_signing_alg_values_supported", \.authorizationResponseAlgorithms),
      ("request_object_signing_alg_values_supported", \.requestObjectAlgorithms),
      ("dpop_signing_alg_values_supported", \.proofAlgorithms),
      ("id_token_signing_alg_values_supported", \.idTokenAlgorithms),
      ("userinfo_signing_alg_values_supported", \.userInfoAlgorithms),
      ("acr_values_supported", \.authenticationContextClasses),
      ("claims_supported", \.claims),
      ("prompt_values_supported", \.prompts),
    ]
    // Each document has only one list, so that the test notices if the SDK reads another member.
    for (name, path) in members {
      let metadata = try Self.read(Self.document([name: value]))
      #expect(metadata[keyPath: path] == list, "\(name)")
    }
  }

  @Test(arguments: [
    ("true", true), ("false", false), (#""true""#, true), (#""false""#, false), ("1", false),
    ("null", false), ("[]", false),
  ])
  func `the flag for the iss response parameter may be a Boolean or a string`(
    value: String, isPromised: Bool
  )
    throws
  {
    let metadata = try Self.read(
      Self.document(["authorization_response_iss_parameter_supported": value]))
    #expect(metadata.sendsIssuerInResponse == isPromised)
  }

  // MARK: - Endpoints that only some calls need

  static let unusable: [(String, SQOAuthError.Code)] = [
    (#""/""#, .invalidResponse), (#""https://u@id.example/x""#, .invalidResponse),
    (#""https://id.example/x#f""#, .invalidResponse), ("1", .invalidResponse),
    ("[]", .invalidResponse), (#""http://keycloak:8080/x""#, .insecureEndpoint),
    (#""http://id.example/x""#, .insecureEndpoint),
    (#""http://127.0.0.1:8080/x""#, .insecureEndpoint),
  ]

  @Test(arguments: OptionalEndpoint.allCases, unusable)
  func `an unusable optional endpoint causes an error only when a call needs it`(
    endpoint: OptionalEndpoint, value: (text: String, code: SQOAuthError.Code)
  ) throws {
    let metadata = try Self.read(Self.document([endpoint.rawValue: value.text]))
    #expect(metadata.optionalEndpoints[endpoint]?.url == nil)
    let error = failure(value.code) { try metadata.address(of: endpoint) }
    #expect(
      error?.message.contains(endpoint.name) == true
        || error?.message.contains(endpoint.rawValue) == true)
  }

  @Test(arguments: OptionalEndpoint.allCases, ["null", #""""#])
  func `an optional endpoint that is null or empty counts as missing`(
    endpoint: OptionalEndpoint, value: String
  )
    throws
  {
    let metadata = try Self.read(Self.document([endpoint.rawValue: value]))
    #expect(try metadata.address(of: endpoint) == nil)
  }
}
