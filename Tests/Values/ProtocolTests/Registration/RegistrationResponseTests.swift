import Foundation
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// What a registration may say, without a server.
@Suite struct RegistrationResponseTests {
  private func registration(
    at issuer: String, managedAt uri: JSONValue
  ) throws(SQOAuthError) -> ClientRegistration {
    try RegistrationResponse(
      issuer: issuer, secrets: SentSecrets([]), now: Date(timeIntervalSince1970: 0)
    ).registration(in: [
      "client_id": "c", "registration_client_uri": uri, "registration_access_token": "t",
    ])
  }

  /// Loopback addresses may use http, but no server on another host has its clients there.
  @Test func `the token of a registration goes to https alone, if the issuer has it`() throws {
    let local: JSONValue = "http://127.0.0.1:8080/clients/c"
    failure(.insecureEndpoint) {
      try registration(at: "https://id.example", managedAt: local)
    }
    #expect(try registration(at: "http://127.0.0.1:8080", managedAt: local).isManageable)
    #expect(
      try registration(at: "https://id.example", managedAt: "https://id.example/c").isManageable)
  }

  @Test(
    arguments: [
      ("a b", "a b"), (["a", "b"], "a b"), (5, nil), (["a", 1], nil),
    ] as [(JSONValue, String?)])
  func `the registered scope is one text or a list of texts`(value: JSONValue, scope: String?)
    throws
  {
    let response = RegistrationResponse(
      issuer: "https://id.example", secrets: SentSecrets([]), now: Date(timeIntervalSince1970: 0))
    let earlier = try response.registration(in: ["client_id": "c", "scope": "old"])
    let registration = try response.registration(
      in: ["client_id": "c", "scope": value], after: earlier)
    #expect(registration.scope == scope)
    #expect(try response.registration(in: ["client_id": "c"], after: earlier).scope == "old")
  }

  @Test(arguments: TokenRefusalTests.forms, [400, 403, 500])
  func `the server's own words are told`(body: String, status: Int) {
    let error = RegistrationResponse(
      issuer: "https://id.example", secrets: SentSecrets([]), now: Date(timeIntervalSince1970: 0)
    ).failure(Answer.http(body, status: status))
    #expect(error.message.contains("and said: the words"), "\(error.message)")
    #expect(error.response == nil && error.status == status)
  }

  private static let unused = [
    "client_secret", "client_secret_expires_at", "scope", "token_endpoint_auth_method",
    "redirect_uris", "registration_client_uri", "registration_access_token", "jwks", "logo_uri",
  ]

  /// Servers that write their model as it is have these values for what a client does not have.
  @Test(arguments: [.null, ""] as [JSONValue])
  func `a member that is null or empty is one that the client does not have`(value: JSONValue)
    throws
  {
    let members = Dictionary(uniqueKeysWithValues: Self.unused.map { ($0, value) })
    let response = RegistrationResponse(
      issuer: "https://id.example", secrets: SentSecrets([]), now: Date(timeIntervalSince1970: 0))
    let registration = try response.registration(in: members.merging(["client_id": "c"]) { $1 })
    #expect(registration.clientID == "c" && registration.clientSecret == nil)
    #expect(registration.clientSecretExpirationDate == nil && registration.scope == nil)
    #expect(registration.clientAuthentication == .publicClient && !registration.isManageable)
    #expect(registration.redirectURIs == [])
    failure(.invalidResponse) { try response.registration(in: ["client_id": value]) }
  }
}
