import Foundation
import OAuthSandbox
import Testing

@testable import LoopbackSupport
@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// The user's identity and the tokens after a refresh, with or without a new ID token.
@Suite("The identity after a refresh", .timeLimit(.minutes(2))) struct RefreshedIdentityTests {
  private let store = MemoryTokenStore()

  private func party(
    sharesClock: Bool = true, changeSandbox: (inout SandboxOptions) -> Void = { _ in }
  ) async throws -> OpenIDFixture {
    let party = try await OpenIDFixture(
      .es256, sharesClock: sharesClock, changeSandbox: changeSandbox)
    party.oauth.environment.tokenStore = store
    // The timer must not act between a test's own steps, unless the test is about the timer.
    party.oauth.refreshesAutomatically = false
    try await party.signIn()
    return party
  }

  private func stored() async throws -> AccountRecord {
    try #require(await store.load("default"))
  }

  @Test func `a refresh without an ID token keeps the identity`() async throws {
    let party = try await party { $0.openID.issuesIDTokenOnRefresh = false }
    let user = party.oauth.currentToken?.idToken
    #expect(try await party.oauth.refresh().idToken == user && user != nil)
  }

  @Test func `after a restart the user's identity is known without the network`() async throws {
    let party = try await party()
    let user = try #require(party.oauth.currentToken?.idToken)
    let restarted = SQOAuth()
    restarted.environment.tokenStore = store
    restarted.environment.transport = ScriptedTransport { _ in
      throw SQOAuthError(.connectionFailed, "there is no network")
    }
    let configuration = try #require(party.oauth.module.configuration)
    restarted.register(configuration)
    #expect(try await restarted.restore())
    #expect(restarted.currentToken?.idToken == user)
    #expect(restarted.currentToken?.idToken?.subject == user.subject)
  }

  /// A program that can change the app's own copy of a token must not be able to invent a user.
  @Test func `a token that the app encoded and decoded has no identity`() async throws {
    let party = try await party()
    let token = try #require(party.oauth.currentToken)
    let copy = try JSONDecoder().decode(SQToken.self, from: JSONEncoder().encode(token))
    #expect(copy.idToken == nil && copy == token)
    let other = SQOAuth()
    other.register(try #require(party.oauth.module.configuration))
    try await other.adopt(copy)
    #expect(other.currentToken?.idToken == nil)
  }

  @Test(arguments: ["issuer", "client_id"])
  func `a stored record of another issuer or client has no identity`(member: String) async throws {
    _ = try await party()
    var json = try #require(
      JSONSerialization.jsonObject(with: try await stored().json()) as? [String: Any])
    #expect(json["id_token_verified"] as? Bool == true)
    json[member] = "https://other.example"
    let record = try JSONDecoder().decode(
      AccountRecord.self, from: JSONSerialization.data(withJSONObject: json))
    #expect(record.withKeptIdentity().token.idToken == nil)
    let right = try await stored().withKeptIdentity()
    #expect(right.token.idToken != nil)
  }

  // MARK: An ID token that is rejected or cannot be checked yet

  @Test(
    arguments: [
      (.audienceWrong, .idTokenAudience), (.wrongSignature, .idTokenSignature),
      (.accessTokenHashWrong, .idTokenAccessToken),
    ] as [(SandboxIDTokenFault, SQOAuthError.Code)])
  func `if a new ID token is rejected, the user stays signed in with the old access token`(
    fault: SandboxIDTokenFault, code: SQOAuthError.Code
  ) async throws {
    let party = try await party()
    let before = try #require(party.oauth.currentToken)
    party.sandbox.misbehave(at: .token, .idToken(fault))
    await failure(code) { try await party.oauth.refresh() }
    // The server has replaced the refresh token, and the store has the new one.
    let record = try await stored()
    #expect(record.token.refreshToken != before.refreshToken)
    #expect(record.token.accessToken == before.accessToken, "the new access token is not used")
    #expect(party.oauth.currentToken?.accessToken == before.accessToken)
    #expect(party.oauth.currentToken?.idToken == before.idToken)
    // Another refresh with the new refresh token returns a correct ID token.
    party.fixture.clock.advance(by: 2)
    let after = try await party.oauth.refresh()
    #expect(after.accessToken != before.accessToken && after.idToken?.subject != nil)
    #expect(try await stored().unverifiedToken == nil)
  }

  /// The fault of a new ID token, and the event that an observer gets.
  @Test(
    arguments: [
      (.expired, "ignored id_token_expired"), (.issuedInFuture, "ignored id_token_not_yet_valid"),
      (.authorizedPartyMissing, "ignored id_token_audience"), (.authorizedPartyAdded, nil),
      (.encrypted, "ignored id_token_encrypted"), (.otherAlgorithm, "ignored id_token_algorithm"),
      (.unsigned, "ignored id_token_algorithm"), (.critical, "ignored id_token_critical"),
    ] as [(SandboxIDTokenFault, String?)])
  func `if a new ID token is ignored, the user's identity stays, and the new access token is used`(
    fault: SandboxIDTokenFault, word: String?
  ) async throws {
    let party = try await party()
    let before = try #require(party.oauth.currentToken)
    let events = RefreshRecorder.listening(to: party.oauth.module.events())
    party.sandbox.misbehave(at: .token, .idToken(fault))
    let after = try await party.oauth.refresh()
    #expect(after.accessToken != before.accessToken)
    #expect(after.idToken?.subject == before.idToken?.subject && after.idToken != nil)
    #expect((after.idToken == before.idToken) == (word != nil))
    let words = await events.words(word == nil ? 1 : 2)
    #expect(words == [word, "refreshed \(after.accessToken)"].compactMap(\.self))
    // The store keeps the valid identity.
    let kept = try await stored().withKeptIdentity()
    #expect(kept.token.idToken == after.idToken && kept.unverifiedToken == nil)
    #expect(try await party.oauth.refresh().idToken?.subject == before.idToken?.subject)
  }

  @Test func `the new access token is used only after the keys for its ID token are fetched`()
    async throws
  {
    let party = try await party()
    let before = try #require(party.oauth.currentToken)
    party.sandbox.rotateSigningKeys(keepingOld: false)
    party.sandbox.misbehave(at: .keys, .keySet(.serverError))
    let error = await failure { try await party.oauth.refresh() }
    #expect(error?.code == .serverError || error?.code == .temporarilyUnavailable)
    #expect(party.oauth.currentToken?.accessToken == before.accessToken)
    let refreshes = party.fixture.tokenRequests.count
    party.fixture.clock.advance(by: 2)
    let after = try await party.oauth.refresh()
    #expect(party.fixture.tokenRequests.count == refreshes, "no other refresh is sent")
    #expect(after.accessToken != before.accessToken)
    #expect(try await stored().token.accessToken == after.accessToken)
  }

  /// The token does not expire, or is not due for a long time.
  @Test(arguments: [nil, .seconds(3600)] as [Duration?])
  func `the timer uses the new access token when the keys can be fetched again`(
    lifetime: Duration?
  ) async throws {
    let party = try await party { $0.accessTokenLifetime = lifetime }
    let before = try #require(party.oauth.currentToken)
    party.sandbox.rotateSigningKeys(keepingOld: false)
    party.sandbox.misbehave(at: .keys, .keySet(.serverError))
    await failure { try await party.oauth.refresh() }
    let refreshes = party.fixture.tokenRequests.count
    party.oauth.refreshesAutomatically = true
    await party.fixture.clock.hasSleeper()
    #expect(party.oauth.currentToken?.accessToken == before.accessToken)
    party.fixture.clock.advance(by: 2)
    try await eventually { party.oauth.currentToken?.accessToken != before.accessToken }
    #expect(party.fixture.tokenRequests.count == refreshes, "no other refresh is sent")
  }

  @Test func `if a process ends before it verifies the ID token, the next process verifies it`()
    async throws
  {
    let party = try await party()
    party.sandbox.rotateSigningKeys(keepingOld: false)
    party.sandbox.misbehave(at: .keys, .keySet(.serverError))
    await failure { try await party.oauth.refresh() }
    // Encodes and decodes the record as JSON, as any store does.
    let record = try JSONDecoder().decode(
      AccountRecord.self, from: try await stored().json())
    let other = MemoryTokenStore()
    await other.save(record)
    let next = SQOAuth()
    next.environment.clock = party.fixture.clock
    next.environment.tokenStore = other
    next.refreshesAutomatically = false
    next.register(try #require(party.oauth.module.configuration))
    let refreshes = party.fixture.tokenRequests.count
    #expect(try await next.restore())
    #expect(next.currentToken?.accessToken == record.token.accessToken)
    let token = try await next.refresh()
    #expect(party.fixture.tokenRequests.count == refreshes)
    #expect(token.accessToken == record.unverifiedToken?.accessToken)
  }

  @Test func `if the local clock is ahead, the error about the expired ID token says so`()
    async throws
  {
    let party = try await party(sharesClock: false)
    party.fixture.clock.advance(by: 7200)
    let events = RefreshRecorder.listening(to: party.oauth.module.events())
    try await party.oauth.refresh()
    _ = await events.words(1)
    guard case .idTokenIgnored(let error)? = events.events.first else {
      Issue.record("\(events.words)")
      return
    }
    #expect(error.code == .idTokenExpired && error.message.contains("ahead of the server's"))
  }
}
