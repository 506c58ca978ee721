import Foundation
import SequencingOAuth
import TestSupport
import Testing

/// Who the user is, as a third party's provider says it.
@Suite(.requires(.glewlwyd)) struct GlewlwydIdentityTests {
  @Test(.timeLimit(.minutes(2)))
  func `alice is known by name after the sign-in, a refresh and a restart`() async throws {
    try await Glewlwyd.running { server in
      let store = MemoryTokenStore()
      let oauth = try Self.oauth(server, keptIn: store)
      let token = try await oauth.signIn()
      let user = try #require(token.idToken)
      #expect(user.issuer == server.issuer && user.audience == ["public"])

      let info = try await oauth.userInfo()
      #expect(info.subject == user.subject && info.name == "Alice Liddell")
      #expect(info.email == "alice@example.com")

      let refreshed = try await oauth.refresh()
      #expect(refreshed.accessToken != token.accessToken)
      #expect(refreshed.idToken?.subject == user.subject)

      let restarted = try Self.oauth(server, keptIn: store)
      #expect(try await restarted.restore())
      #expect(restarted.currentToken?.idToken?.subject == user.subject)
      let metadata = try await oauth.providerMetadata()
      #expect(metadata.jwksURI != nil && metadata.idTokenAlgorithms?.isEmpty == false)
    }
  }

  private static func oauth(
    _ server: Glewlwyd, keptIn store: MemoryTokenStore
  ) throws -> SQOAuth {
    let oauth = SQOAuth()
    oauth.refreshesAutomatically = false
    oauth.environment.tokenStore = store
    oauth.environment.userAgent = CustomUserAgent { url in
      try await server.visit(
        url, as: .alice, granting: ["openid", "profile", "email"], to: .public)
    }
    oauth.register(
      try ClientConfiguration(
        clientID: Glewlwyd.Client.public.rawValue, redirectURI: try server.takeRedirectURI(),
        scopes: ["openid", "profile", "email"], provider: .issuer(server.issuer)))
    return oauth
  }
}
