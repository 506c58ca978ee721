import Foundation
import ProgramSupport
import SQBasics
import SQLoopback
import SequencingOAuth
import SequencingOAuthBackend
import TestSupport
import Testing

/// The end of a user's session at an independent provider.
@Suite(.requires(.glewlwyd), .timeLimit(.minutes(2))) struct GlewlwydLogoutTests {
  @Test
  func `after endSession, the app has no token and the provider rejects the old refresh token`()
    async throws
  {
    try await Glewlwyd.running { server in
      let store = MemoryTokenStore()
      let oauth = try server.app(keptIn: store)
      try await oauth.signIn()
      let record = try #require(try await store.all().first)

      // The call returns after the redirect has arrived with its state.
      try await oauth.endSession()
      #expect(oauth.currentToken == nil)
      #expect(try await store.all().isEmpty)

      let copy = MemoryTokenStore()
      await copy.save(record)
      let thief = try server.app(keptIn: copy)
      #expect(try await thief.restore())
      let refusal = await failure { try await thief.refresh() }
      #expect(refusal?.status == 400)
    }
  }

  @Test(arguments: [JWSAlgorithm.rs256, .es256])
  func `the provider's logout token ends the session`(algorithm: JWSAlgorithm) async throws {
    let (forms, arrived) = AsyncStream.makeStream(of: String.self)
    let receiver = try LoopbackServer { request in
      arrived.yield(String(decoding: request.body, as: UTF8.self))
      return .response(LoopbackResponse(status: 200))
    }
    let settings = [
      "SIGNING": algorithm.rawValue, "LOGOUT_URI": "http://\(receiver.authority)/logged-out",
    ]
    try await Glewlwyd.running(settings: settings) { server in
      let store = MemoryTokenStore()
      let oauth = try server.app(keptIn: store, signedBy: algorithm)
      let user = try #require(try await oauth.signIn().idToken)
      var events = oauth.events().makeAsyncIterator()

      let logout = "\(server.issuer)/end_session?id_token_hint=\(user.compactForm)"
      try await server.confirmLogout(try #require(URL(string: logout)), as: .alice)
      let form = try #require(await forms.first { _ in true })
      let text = try #require(form.firstMatch(of: /^logout_token=(.+)$/)?.1)
      let outcome = try await oauth.handleLogoutToken(String(text))
      #expect(outcome.endedSession && outcome.token.sessionID == user.sessionID)
      #expect(outcome.token.subject == user.subject)
      #expect(oauth.currentToken == nil)
      #expect(try await store.all().isEmpty)
      guard case .ended(.loggedOut) = await events.next() else {
        Issue.record("the session's end was not reported")
        return
      }
      await failure(.logoutTokenInvalid) { try await oauth.handleLogoutToken(String(text)) }
    }
    await receiver.stop()
  }
}
