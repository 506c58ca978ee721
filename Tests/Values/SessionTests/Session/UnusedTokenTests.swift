import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// Tokens that arrive for a session that has ended meanwhile.
@Suite(.timeLimit(.minutes(1))) struct UnusedTokenTests {
  enum Way: CaseIterable, Sendable { case signIn, password, client }

  /// Returns a session whose server revokes tokens, and whose store keeps saves waiting.
  private func world(_ way: Way) throws -> SessionFixture {
    let world = try SessionFixture()
    try world.fixture.register(
      provider: .endpoints(
        authorization: "https://id.example/authorize", token: "https://id.example/token",
        revocation: "https://id.example/revoke")
    ) {
      $0.allowsPasswordGrant = true
      $0.usesClientCredentials = way == .client
    }
    world.fixture.http.answer { [server = world.server] request in
      request.url.path() == "/revoke"
        ? WebResponse(status: 200) : try await server.answer(request)
    }
    world.store.saving.close()
    return world
  }

  private func begins(_ way: Way, _ module: AuthorizationModule) -> Task<SQToken, any Error> {
    begin {
      switch way {
      case .signIn: try await module.signIn()
      case .password: try await module.requestAccessToken(username: "alice", password: "p")
      case .client: try await module.token()
      }
    }
  }

  @Test(arguments: Way.allCases)
  func `tokens are revoked if the user signs out while they are being stored`(way: Way)
    async throws
  {
    let world = try world(way)
    let module = world.module
    let caller = begins(way, module)
    try await world.store.saving.isHolding()
    if way == .client {
      // Otherwise the caller would ask for another token after the sign-out.
      caller.cancel()
      await failure(.cancelled) { try await caller.value }
    }
    let signOut = begin { try await module.signOut() }
    world.store.saving.open()
    try await signOut.value
    await failure(.cancelled) { try await caller.value }
    try await module.flush()
    let revoked = world.fixture.http.requests.filter { $0.url.path() == "/revoke" }
      .compactMap { ScriptedTransport.form(of: $0)?["token"] }
    #expect(revoked == ["R1", "T1"])
    #expect(world.memory == nil)
    #expect(await world.store.content() == nil)
  }
}
