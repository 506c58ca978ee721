import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

/// The user's identity at an independent provider.
@Suite(.requires(.glewlwyd), .timeLimit(.minutes(2))) struct GlewlwydIdentityTests {
  @Test(arguments: [JWSAlgorithm.rs256, .es256])
  func `alice's identity is available after the sign-in, a refresh and a restart`(
    algorithm: JWSAlgorithm
  ) async throws {
    try await Glewlwyd.running(settings: ["SIGNING": algorithm.rawValue]) { server in
      let store = MemoryTokenStore()
      let oauth = try server.app(keptIn: store, signedBy: algorithm)
      let token = try await oauth.signIn()
      let user = try #require(token.idToken)
      #expect(user.issuer == server.issuer && user.audience == ["public"])

      let info = try await oauth.userInfo()
      #expect(info.subject == user.subject && info.name == "Alice Liddell")
      #expect(info.email == "alice@example.com")

      let refreshed = try await oauth.refresh()
      #expect(refreshed.accessToken != token.accessToken)
      #expect(refreshed.idToken?.subject == user.subject)

      let restarted = try server.app(keptIn: store, signedBy: algorithm)
      #expect(try await restarted.restore())
      #expect(restarted.currentToken?.idToken?.subject == user.subject)
      let metadata = try await oauth.providerMetadata()
      #expect(metadata.jwksURI != nil)
      #expect(metadata.idTokenAlgorithms?.contains(algorithm.rawValue) == true)
    }
  }

  @Test(arguments: [JWSAlgorithm.rs256, .es256, .edDSA])
  func `a client that demands signed UserInfo responses accepts them`(algorithm: JWSAlgorithm)
    async throws
  {
    try await Glewlwyd.running(settings: ["USERINFO_SIGNING": algorithm.rawValue]) { server in
      let oauth = try server.app(userInfoSignedBy: algorithm)
      let user = try #require(try await oauth.signIn().idToken)
      let info = try await oauth.userInfo()
      #expect(info.subject == user.subject && info.name == "Alice Liddell")
    }
  }

  /// glewlwyd makes the `at_hash` with SHA-256, but Ed25519 signs with SHA-512.
  ///
  /// The signature itself is correct: it is verified before the claims.
  @Test func `an Ed25519 ID token of glewlwyd is rejected for its wrong at_hash`() async throws {
    try await Glewlwyd.running(settings: ["SIGNING": "EdDSA"]) { server in
      let oauth = try server.app(signedBy: .edDSA)
      await failure(.idTokenAccessToken) { try await oauth.signIn() }
      #expect(!oauth.isAuthorized)
      #expect(!(try await oauth.restore()))
    }
  }

  @Test func `an ID token whose algorithm is not the client's is rejected`() async throws {
    try await Glewlwyd.running(settings: ["SIGNING": "ES256"]) { server in
      let oauth = try server.app(signedBy: .rs256)
      await failure(.idTokenAlgorithm) { try await oauth.signIn() }
      #expect(!oauth.isAuthorized)
    }
  }
}
