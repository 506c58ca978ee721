import Foundation
import OAuthSandbox
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuth
@testable import TestSupport

/// A provider's word that a user has logged out.
@Suite("Logout tokens", .timeLimit(.minutes(2))) struct LogoutTokenTests {
  private func token(
    _ party: OpenIDFixture, user: Bool = true, session: Bool = true,
    fault: SandboxLogoutTokenFault? = nil
  ) throws -> String {
    try #require(
      party.sandbox.logoutToken(
        client: "relying-party", namesUser: user, namesSession: session, fault: fault))
  }

  @Test(arguments: [(true, true), (true, false), (false, true)])
  func `the named session ends, and its events say why`(user: Bool, session: Bool) async throws {
    let party = try await OpenIDFixture(.es256)
    let identity = try await party.signIn()
    let recorder = RefreshRecorder.listening(to: party.oauth.events)
    let (token, ended) = try await party.oauth.handleLogoutToken(
      token(party, user: user, session: session))
    #expect(ended && token.names(identity) && token.issuer == identity.issuer)
    #expect(party.oauth.currentToken == nil)
    #expect(!(try await party.oauth.restore()))
    try await eventually { recorder.words == ["ended loggedOut"] }
  }

  @Test(arguments: SandboxLogoutTokenFault.allCases)
  func `a wrong token ends nothing`(fault: SandboxLogoutTokenFault) async throws {
    let party = try await OpenIDFixture(.es256)
    try await party.signIn()
    let text = try token(party, fault: fault)
    // The type is only recommended, and many providers send JWT. Drafts had no `exp`.
    guard ![.otherType, .expiryMissing].contains(fault) else {
      #expect(try await party.oauth.handleLogoutToken(text).endedSession)
      return
    }
    await failure(.logoutTokenInvalid) { try await party.oauth.handleLogoutToken(text) }
    #expect(party.oauth.isAuthorized)
  }

  @Test(arguments: [(179.0, true), (181.0, false)])
  func `a token without exp is valid for two minutes and the tolerance`(
    age: Double, isValid: Bool
  ) throws {
    let issued = Date(timeIntervalSince1970: 1_700_000_000)
    let claims: [String: JSONValue] = [
      "iss": "https://id.example", "aud": "app", "sub": "alice", "jti": "1",
      "iat": .number(issued.timeIntervalSince1970),
      "events": ["http://schemas.openid.net/event/backchannel-logout": [:]],
    ]
    let validate = { () throws(SQOAuthError) in
      try LogoutToken(
        claims, issuer: "https://id.example", clientID: "app", clockTolerance: .seconds(60),
        now: issued.addingTimeInterval(age))
    }
    if isValid {
      #expect(try validate().expirationDate == issued.addingTimeInterval(120))
    } else {
      failure(.logoutTokenInvalid) { try validate() }
    }
  }

  @Test func `a token counts once, and an ID token is none`() async throws {
    let party = try await OpenIDFixture(.es256)
    let user = try await party.signIn()
    await failure(.logoutTokenInvalid) {
      try await party.oauth.handleLogoutToken(user.compactForm)
    }
    let text = try token(party)
    #expect(try await party.oauth.handleLogoutToken(text).endedSession)
    try await party.signIn()
    await failure(.logoutTokenInvalid) { try await party.oauth.handleLogoutToken(text) }
    #expect(party.oauth.isAuthorized)
  }

  @Test func `a manager ends the named accounts, in memory and in the store`() async throws {
    let party = try await OpenIDFixture(.es256)
    try await party.signIn()
    let record = try #require(await recordOf(party))
    let store = MemoryTokenStore()
    for id in ["one", "two"] { await store.save(record.named(id)) }
    await store.save(AccountRecord(id: "other", clientID: "another", token: record.token))
    let manager = AccountManager(store: store, environment: party.oauth.environment)
    let configuration = try #require(party.oauth.module.configuration)
    let module = try await manager.account(configuration, id: "one")
    #expect(module.currentToken?.idToken != nil)
    let ended = try await manager.handleLogoutToken(token(party), for: configuration)
    #expect(ended == ["one", "two"])
    #expect(module.currentToken == nil)
    #expect(try await store.all().map(\.id) == ["other"])
  }

  private func recordOf(_ party: OpenIDFixture) async -> AccountRecord? {
    guard let store = party.oauth.environment.tokenStore as? MemoryTokenStore else { return nil }
    return await store.load("default")
  }
}

extension AccountRecord {
  /// The record under another name, as it comes from a store.
  fileprivate func named(_ id: String) -> AccountRecord {
    guard
      var json = (try? JSONSerialization.jsonObject(with: json())) as? [String: Any]
    else { return self }
    json["id"] = id
    let data = try? JSONSerialization.data(withJSONObject: json)
    return data.flatMap { try? JSONDecoder().decode(AccountRecord.self, from: $0) } ?? self
  }
}
