import Foundation
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// Clients of Google, Facebook, Keycloak and Sequencing.com, at servers that answer as their
/// documentation says.
@Suite("At Google, Facebook, Keycloak and Sequencing.com", .timeLimit(.minutes(1)))
struct OtherProviderTests {
  @Test func `a refresh at Google keeps the refresh token, and revoke sends both tokens`()
    async throws
  {
    let party = try PlayedProvider { party in
      [
        "POST oauth2.googleapis.com/token": party.tokens(rotating: false) { count in
          let idToken = try await party.idToken(["iss": "https://accounts.google.com"])
          let refresh = count == 1 ? #","refresh_token":"R1""# : ""
          return
            #"{"access_token":"T\#(count)","expires_in":3599,"scope":"openid","token_type":"Bearer","id_token":"\#(idToken)"\#(refresh)}"#
        },
        "POST oauth2.googleapis.com/revoke": ScriptedTransport.json("{}"),
        "GET www.googleapis.com/oauth2/v3/certs": party.keys(),
      ]
    }
    try party.fixture.register(scope: "openid", provider: .google)
    let (first, second) = try await party.signInAndRefresh(after: 3_599)
    #expect(first.idToken?.subject == "user" && second.refreshToken == "R1")
    try await party.fixture.oauth.revoke()
    let revoked = party.requests(to: "oauth2.googleapis.com/revoke")
    #expect(revoked.compactMap { ScriptedTransport.form(of: $0)?["token"] } == ["R1", "T2"])
  }

  @Test func `revoke at Facebook, which has no refresh tokens, deletes the app's permissions`()
    async throws
  {
    let party = try PlayedProvider { party in
      [
        "POST graph.facebook.com/oauth/access_token": party.tokens { count in
          #"{"access_token":"T\#(count)","token_type":"bearer","expires_in":5183944}"#
        },
        "DELETE graph.facebook.com/me/permissions": ScriptedTransport.json(#"{"success":true}"#),
      ]
    }
    try party.fixture.register(scope: "public_profile", provider: .facebook)
    try await party.fixture.oauth.signIn()
    try await party.fixture.oauth.revoke()
    let request = try #require(party.requests(to: "graph.facebook.com/me/permissions").first)
    #expect(request.headers["Authorization"] == "Bearer T1" && request.url.query() == nil)
    #expect(party.fixture.oauth.currentToken == nil)
  }

  @Test(arguments: [false, true])
  func `a refresh at Keycloak returns a new refresh token, and revoke can use the logout endpoint`(
    logsOut: Bool
  ) async throws {
    let realm = "id.example.com/realms/r/protocol/openid-connect"
    let party = try PlayedProvider { party in
      [
        "POST \(realm)/token": party.tokens { count in
          #"{"access_token":"T\#(count)","token_type":"Bearer","expires_in":300,"refresh_expires_in":1800,"refresh_token":"R\#(count)","not-before-policy":0}"#
        },
        "POST \(realm)/revoke": { _ in WebResponse(status: 200) },
        "POST \(realm)/logout": { _ in WebResponse(status: 204) },
      ]
    }
    try party.fixture.register(
      secret: nil,
      provider: .keycloak(
        baseURL: "https://id.example.com", realm: "r", revokesByLogout: logsOut))
    let (_, second) = try await party.signInAndRefresh(after: 300)
    #expect(second.accessToken == "T2" && second.refreshToken == "R2")
    try await party.fixture.oauth.revoke()
    #expect(
      party.requests(to: "\(realm)/\(logsOut ? "logout" : "revoke")").count == (logsOut ? 1 : 2))
  }

  @Test func `Sequencing.com has a separate URL for refreshes, and does not support revocation`()
    async throws
  {
    let party = try PlayedProvider { party in
      [
        "POST sequencing.com/oauth2/token": party.tokens { count in
          #"{"access_token":"T\#(count)","token_type":"Bearer","expires_in":3600,"scope":"demo","refresh_token":"R\#(count)"}"#
        }
      ]
    }
    try party.fixture.register(provider: .sequencing)
    let (_, second) = try await party.signInAndRefresh(after: 3_600)
    #expect(second.accessToken == "T2")
    let queries = party.requests(to: "sequencing.com/oauth2/token").map { $0.url.query() }
    #expect(queries == [nil, "q=oauth2/token"])
    #expect(party.page?.parameters["mobile"] == "1")
    await failure(.revocationUnsupported) { try await party.fixture.oauth.revoke() }
  }
}
