import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// The addresses and the settings that a preset must have.
@Suite struct ProviderPresetsTests {
  @Test func `Sequencing has mobile=1, Basic authentication and its own refresh address`() throws {
    let metadata = try ProviderTests.metadata(.sequencing)
    #expect(
      metadata.authorizationEndpoint?.absoluteString == "https://sequencing.com/oauth2/authorize")
    #expect(metadata.tokenEndpoint.absoluteString == "https://sequencing.com/oauth2/token")
    #expect(
      metadata.refreshEndpoint.absoluteString
        == "https://sequencing.com/oauth2/token?q=oauth2/token")
    #expect(metadata.revocationEndpoint == nil)
    #expect(Provider.sequencing.authorizationParameters == ["mobile": "1"])
    #expect(Provider.sequencing.clientAuthentication == .basic)
  }

  @Test func `Google's preset has the issuer and the endpoints that Google publishes`() throws {
    let metadata = try ProviderTests.metadata(.google)
    #expect(
      metadata.authorizationEndpoint?.absoluteString
        == "https://accounts.google.com/o/oauth2/v2/auth")
    #expect(metadata.tokenEndpoint.absoluteString == "https://oauth2.googleapis.com/token")
    #expect(metadata.revocationEndpoint?.absoluteString == "https://oauth2.googleapis.com/revoke")
    #expect(metadata.issuer == "https://accounts.google.com")
  }

  @Test func `Facebook has absolute endpoints and gets the secret in the body`() throws {
    let metadata = try ProviderTests.metadata(.facebook)
    #expect(metadata.authorizationEndpoint?.host() == "www.facebook.com")
    #expect(metadata.authorizationEndpoint?.path() == "/dialog/oauth")
    #expect(metadata.tokenEndpoint.host() == "graph.facebook.com")
    #expect(metadata.tokenEndpoint.path().hasSuffix("/oauth/access_token"))
    #expect(
      metadata.revocationEndpoint?.absoluteString == "https://graph.facebook.com/me/permissions")
    #expect(Provider.facebook.clientAuthentication == .post)
    #expect(Provider.facebook.revocationStyle == .facebookPermissions)
  }

  @Test(arguments: ["https://id.example/auth", "https://id.example/auth/"])
  func `Keycloak's addresses and issuer contain the realm`(base: String) throws {
    let metadata = try ProviderTests.metadata(.keycloak(baseURL: base, realm: "shoot"))
    let realm = "https://id.example/auth/realms/shoot"
    let endpoints = realm + "/protocol/openid-connect"
    #expect(metadata.authorizationEndpoint?.absoluteString == endpoints + "/auth")
    #expect(metadata.tokenEndpoint.absoluteString == endpoints + "/token")
    #expect(metadata.revocationEndpoint?.absoluteString == endpoints + "/revoke")
    #expect(metadata.issuer == realm)
    let logout = Provider.keycloak(baseURL: base, realm: "shoot", revokesByLogout: true)
    #expect(
      try ProviderTests.metadata(logout).revocationEndpoint?.absoluteString
        == endpoints + "/logout")
    #expect(logout.revocationStyle == .keycloakLogout)
  }

  @Test(arguments: ["", ".", ".."])
  func `an empty Keycloak realm and one of one or two dots are rejected`(realm: String) {
    failure(.invalidConfiguration) {
      try ClientConfiguration(
        clientID: "id", redirectURI: "http://127.0.0.1/cb",
        provider: .keycloak(baseURL: "https://id.example", realm: realm))
    }
  }

  @Test(arguments: [
    ("a b", "a%20b"), ("a/b", "a%2Fb"), ("a?b", "a%3Fb"), ("a#b", "a%23b"), ("a%b", "a%25b"),
    ("\u{FC}", "%C3%BC"),
  ])
  func `a realm that is not a path segment is escaped`(realm: String, segment: String) throws {
    let metadata = try ProviderTests.metadata(
      .keycloak(baseURL: "https://id.example", realm: realm))
    let address = "https://id.example/realms/\(segment)"
    #expect(metadata.issuer == address)
    #expect(
      metadata.tokenEndpoint.absoluteString == address + "/protocol/openid-connect/token")
  }
}
