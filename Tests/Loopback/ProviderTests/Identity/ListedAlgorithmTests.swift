import OAuthSandbox
import SQBasics
import SequencingOAuth
import SequencingOAuthBackend
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// The algorithms that a client accepts if its configuration names none.
@Suite("Listed algorithms", .timeLimit(.minutes(2))) struct ListedAlgorithmTests {
  private static let publicKeys = SandboxSigningAlgorithm.allCases.filter {
    !$0.rawValue.hasPrefix("HS")
  }

  /// Creates a sandbox that signs everything with `algorithm`, and a client that names none.
  private func party(
    _ algorithm: SandboxSigningAlgorithm, listed: [SandboxJSON]? = nil
  ) async throws -> OpenIDFixture {
    let party = try await OpenIDFixture(
      algorithm, changeSandbox: { $0.clients[0].userInfoAlgorithm = algorithm },
      change: { $0.idTokenAlgorithm = nil })
    if let listed {
      party.sandbox.misbehave(
        at: .metadata, .member("id_token_signing_alg_values_supported", .array(listed)), times: 2)
    }
    return party
  }

  @Test(arguments: publicKeys)
  func `every listed public-key algorithm is accepted`(
    algorithm: SandboxSigningAlgorithm
  ) async throws {
    let party = try await party(algorithm)
    let user = try await party.signIn()
    #expect(try await party.oauth.userInfo().subject == user.subject)
    try await party.oauth.refresh()
    #expect(try await party.oauth.handleLogoutToken(party.logoutToken()).endedSession)
  }

  @Test(arguments: [SandboxSigningAlgorithm.rs512, .es256, .edDSA])
  func `an unlisted algorithm is rejected`(
    algorithm: SandboxSigningAlgorithm
  ) async throws {
    let party = try await party(algorithm, listed: ["RS256", "ES384", "ES256K"])
    await failure(.idTokenAlgorithm) { try await party.signIn() }
    #expect(!party.oauth.isAuthorized)
  }

  @Test func `a listed symmetric algorithm is not used to verify an ID token`() async throws {
    let party = try await party(.hs256, listed: ["HS256", "RS256"])
    await failure(.idTokenAlgorithm) { try await party.signIn() }
    let other = try await self.party(.hs256, listed: ["HS256", "none", "ES256K"])
    // No ID token of this server can be verified, so there is no identity.
    #expect(try await other.oauth.signIn().idToken == nil)
    await failure(.openIDUnsupported) { try await other.oauth.idToken() }
  }

  @Test(arguments: [(SandboxSigningAlgorithm.rs256, true), (.es256, false)])
  func `with an empty list only RS256 is accepted`(
    algorithm: SandboxSigningAlgorithm, isAccepted: Bool
  ) async throws {
    let party = try await party(algorithm, listed: [])
    if isAccepted {
      try await party.signIn()
    } else {
      await failure(.idTokenAlgorithm) { try await party.signIn() }
    }
  }

  @Test func `the algorithm that the app chose overrides the list`() async throws {
    let party = try await OpenIDFixture(.es256, change: { $0.idTokenAlgorithm = .rs256 })
    await failure(.idTokenAlgorithm) { try await party.signIn() }
  }
}
