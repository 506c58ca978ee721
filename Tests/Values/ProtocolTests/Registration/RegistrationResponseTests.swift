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
}
