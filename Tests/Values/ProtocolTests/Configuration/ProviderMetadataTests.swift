import Foundation
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// RFC 8414, section 3.3, and what else a document must say.
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

  @Test func `a whole document is read`() throws {
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
  }

  @Test func `what a document does not say is unknown, and no promise`() throws {
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
  func `an issuer that differs by one character is another server`(issuer: String) {
    failure(.issuerMismatch) { try Self.read(Self.document(["issuer": "\"\(issuer)\""])) }
  }

  /// U+212A, the sign for kelvin, is the letter K to Swift's `==`, and so is U+037E the semicolon.
  @Test(arguments: [#"https://id.example/\u212A"#, "https://id.example/\u{212A}"])
  func `an issuer of other characters that Unicode calls equal is another server`(issuer: String) {
    failure(.issuerMismatch) {
      try Self.read(
        Self.document(["issuer": "\"\(issuer)\""]), issuer: "https://id.example/K")
    }
  }

  @Test func `a document without an issuer is refused`() {
    let error = failure { try Self.read(Self.document(["issuer": nil])) }
    #expect(error?.code == .issuerMismatch || error?.code == .invalidResponse)
  }

  @Test(arguments: ["authorization_endpoint", "token_endpoint"])
  func `an endpoint that is there must be usable`(name: String) {
    for value in ["1", "\"\"", "[]", "\"/relative\"", "\"https://u@id.example/x\""] {
      failure { try Self.read(Self.document([name: value])) }
    }
  }

  @Test(arguments: [nil, "null"])
  func `the token endpoint must be there, the authorization endpoint need not`(
    value: String?
  ) throws {
    failure(.invalidResponse) { try Self.read(Self.document(["token_endpoint": value])) }
    let metadata = try Self.read(Self.document(["authorization_endpoint": value]))
    #expect(metadata.authorizationEndpoint == nil)
  }

  @Test(arguments: ["authorization_endpoint", "token_endpoint", "revocation_endpoint"])
  func `an http endpoint inside https metadata is refused`(name: String) {
    failure(.insecureEndpoint) {
      try Self.read(Self.document([name: #""http://id.example/x""#]))
    }
    // Else a server elsewhere could have the code sent to a program on this machine.
    failure(.insecureEndpoint) {
      try Self.read(Self.document([name: #""http://127.0.0.1:8080/x""#]))
    }
    failure { try Self.read(Self.document([name: #""https://id.example/x#f""#])) }
  }

  @Test(arguments: ["", "[]", "null", "{", "<html>", "\"a\"", "{}"])
  func `what is no metadata is refused without a crash`(body: String) {
    failure { try Self.read(body) }
  }

  @Test(arguments: [
    ("code_challenge_methods_supported", "\"S256\""), ("code_challenge_methods_supported", "[1]"),
    ("token_endpoint_auth_methods_supported", "{}"),
    ("revocation_endpoint_auth_methods_supported", "\"none\""),
    ("authorization_response_iss_parameter_supported", "\"true\""),
    ("authorization_response_iss_parameter_supported", "1"),
  ])
  func `a member of another type is refused and never taken for absent`(
    name: String, value: String
  ) {
    failure(.invalidResponse) { try Self.read(Self.document([name: value])) }
  }
}
