import Foundation
import OAuthSandbox
import Testing

@testable import LoopbackSupport
@testable import SQBasics
@testable import SequencingOAuth
@testable import SequencingOAuthBackend
@testable import TestSupport

/// A provider's notification that a user has logged out.
@Suite("Logout tokens", .timeLimit(.minutes(2))) struct LogoutTokenTests {
  @Test(arguments: [(true, true), (true, false), (false, true)])
  func `a logout token ends the session that it names, and an event gives the reason`(
    user: Bool, session: Bool
  )
    async throws
  {
    let party = try await OpenIDFixture(.es256)
    let identity = try await party.signIn()
    let recorder = RefreshRecorder.listening(to: party.oauth.events())
    let outcome = try await party.oauth.handleLogoutToken(
      party.logoutToken(user: user, session: session))
    #expect(outcome.endedSession && outcome.token.issuer == identity.issuer)
    #expect(outcome.token.subject == (user ? identity.subject : nil))
    #expect(outcome.token.sessionID == (session ? identity.sessionID : nil))
    #expect(party.oauth.currentToken == nil)
    #expect(!(try await party.oauth.restore()))
    try await eventually { recorder.words == ["ended loggedOut"] }
  }

  @Test(arguments: SandboxOpenIDOptions.SessionIDs.allCases, [true, false])
  func `a logout after a refresh ends the account if its user or its session is named`(
    sessionIDs: SandboxOpenIDOptions.SessionIDs, user: Bool
  ) async throws {
    let party = try await OpenIDFixture(.es256) { $0.openID.sessionIDs = sessionIDs }
    try await party.signIn()
    let refreshed = try await party.oauth.refresh()
    #expect((refreshed.idToken?.sessionID != nil) == (sessionIDs == .always))
    let store = MemoryTokenStore()
    await store.save(try await party.record("one"))
    let manager = AccountManager(store: store, environment: party.oauth.environment)
    let ended = try await manager.handleLogoutToken(
      party.logoutToken(user: user), for: #require(party.oauth.module.configuration))
    // Without a user, an account whose session was never named cannot be found.
    #expect(ended == (user || sessionIDs != .never ? ["one"] : []))
    #expect(await store.list().isEmpty == (ended == ["one"]))
  }

  /// Some servers have two metadata documents, and only that of OpenID Connect names their keys.
  @Test func `a logout token of a client whose own scope lacks openid is verified`() async throws {
    let party = try await OpenIDFixture(.es256)
    try await party.signIn()
    let store = MemoryTokenStore()
    await store.save(try await party.record("one"))
    var configuration = try #require(party.oauth.module.configuration)
    configuration.scope = "profile"
    var environment = ClientEnvironment()
    environment.clock = party.fixture.clock
    let manager = AccountManager(store: store, environment: environment)
    party.sandbox.misbehave(at: .metadata, .member("jwks_uri", nil))
    #expect(
      try await manager.handleLogoutToken(party.logoutToken(), for: configuration) == ["one"])
  }

  @Test(arguments: SandboxLogoutTokenFault.allCases)
  func `a wrong logout token ends no session unless its fault is allowed`(
    fault: SandboxLogoutTokenFault
  ) async throws {
    let party = try await OpenIDFixture(.es256)
    try await party.signIn()
    let text = try party.logoutToken(fault: fault)
    // The type is only recommended, and many providers send JWT. Drafts had no `exp`.
    guard ![.otherType, .expiryMissing].contains(fault) else {
      #expect(try await party.oauth.handleLogoutToken(text).endedSession)
      return
    }
    await failure(.logoutTokenInvalid) { try await party.oauth.handleLogoutToken(text) }
    #expect(party.oauth.isAuthorized)
  }

  @Test(arguments: [
    ("logout+jwt", true), ("JWT", true), ("application/logout+jwt", true), ("secevent+jwt", true),
    ("at+jwt", false), ("dpop+jwt", false), ("application/at+jwt", false), ("x", false),
  ])
  func `a logout token is rejected if its typ names another kind of token`(
    type: String, isAllowed: Bool
  ) throws {
    let header = Data(#"{"alg":"ES256","typ":"\#(type)"}"#.utf8)
    let text = "\(header.base64EncodedString().filter { $0 != "=" }).e30.AAAA"
    if isAllowed {
      _ = try SignedText.logoutToken.read(text)
    } else {
      failure(.logoutTokenInvalid) { try SignedText.logoutToken.read(text) }
    }
    // The `typ` of ID tokens varies, but it must not name another kind of token.
    if !isAllowed, type != "x" {
      failure(.idTokenMalformed) { try SignedText.idToken.read(text) }
      failure(.userInfoInvalid) { try SignedText.userInfo.read(text) }
    }
  }

  @Test(arguments: [(179.0, true), (181.0, false)])
  func `a logout token without exp is valid for two minutes plus the tolerance`(
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

  @Test func `a logout token works only once, and an ID token is not accepted`() async throws {
    let party = try await OpenIDFixture(.es256)
    let user = try await party.signIn()
    await failure(.logoutTokenInvalid) {
      try await party.oauth.handleLogoutToken(user.compactForm)
    }
    let text = try party.logoutToken()
    #expect(try await party.oauth.handleLogoutToken(text).endedSession)
    try await party.signIn()
    await failure(.logoutTokenInvalid) { try await party.oauth.handleLogoutToken(text) }
    #expect(party.oauth.isAuthorized)
  }

  @Test
  func `an account manager ends the accounts that the token names, in memory and in the store`()
    async throws
  {
    let party = try await OpenIDFixture(.es256)
    try await party.signIn()
    let store = MemoryTokenStore()
    let record = try await party.record("one")
    for id in ["one", "two"] { await store.save(try await party.record(id)) }
    await store.save(AccountRecord(id: "other", clientID: "another", token: record.token))
    let manager = AccountManager(store: store, environment: party.oauth.environment)
    let configuration = try #require(party.oauth.module.configuration)
    let module = try await manager.account(configuration, id: "one")
    #expect(module.currentToken?.idToken != nil)
    let ended = try await manager.handleLogoutToken(party.logoutToken(), for: configuration)
    #expect(ended == ["one", "two"])
    #expect(module.currentToken == nil)
    #expect(try await store.all().map(\.id) == ["other"])
  }

  @Test(arguments: [true, false], [true, false])
  func `after a store error, the provider's next attempt ends the session`(
    failsToErase: Bool, isLoaded: Bool
  ) async throws {
    let party = try await OpenIDFixture(.es256)
    try await party.signIn()
    let store = ScriptedStore()
    for id in ["one", "two"] { try await store.save(try await party.record(id)) }
    let manager = AccountManager(store: store, environment: party.oauth.environment)
    let configuration = try #require(party.oauth.module.configuration)
    if isLoaded { _ = try await manager.account(configuration, id: "one") }
    let text = try party.logoutToken()
    store.fails(toLoad: !failsToErase, toErase: failsToErase)
    await failure(.storeFailed) { try await manager.handleLogoutToken(text, for: configuration) }
    store.fails()
    #expect(try await manager.handleLogoutToken(text, for: configuration) == ["one", "two"])
    #expect(try await store.list() == [])
    await failure(.logoutTokenInvalid) {
      try await manager.handleLogoutToken(text, for: configuration)
    }
  }

  @Test
  func `if the store cannot erase one account, the logout throws but still erases the others`()
    async throws
  {
    let party = try await OpenIDFixture(.es256)
    try await party.signIn()
    let store = PartlyBrokenStore(["two"], fails: .toErase)
    for id in ["one", "two", "three"] { await store.save(try await party.record(id)) }
    let manager = AccountManager(store: store, environment: party.oauth.environment)
    let configuration = try #require(party.oauth.module.configuration)
    await failure(.storeFailed) {
      try await manager.handleLogoutToken(party.logoutToken(), for: configuration)
    }
    #expect(await store.list() == ["two"])
  }

  @Test func `after a store error, the next attempt ends the session of a single account`()
    async throws
  {
    let party = try await OpenIDFixture(.es256)
    try await party.signIn()
    let store = ScriptedStore()
    try await store.save(try await party.record("one"))
    let manager = AccountManager(store: store, environment: party.oauth.environment)
    let module = try await manager.account(
      #require(party.oauth.module.configuration), id: "one")
    let text = try party.logoutToken()
    store.fails(toErase: true)
    await failure(.storeFailed) { try await module.handleLogoutToken(text) }
    store.fails()
    _ = try await module.handleLogoutToken(text)
    #expect(try await store.list() == [])
    await failure(.logoutTokenInvalid) { try await module.handleLogoutToken(text) }
  }

  @Test(arguments: [SQOAuthError.Code.storeDamaged, .storeTooNew, .wrongPassphrase])
  func `an unreadable record does not prevent the logout of other accounts`(
    code: SQOAuthError.Code
  ) async throws {
    let party = try await OpenIDFixture(.es256)
    try await party.signIn()
    let store = PartlyBrokenStore(["b"], fails: .toLoad(code))
    for id in ["a", "b", "c"] { await store.save(try await party.record(id)) }
    let manager = AccountManager(store: store, environment: party.oauth.environment)
    let configuration = try #require(party.oauth.module.configuration)
    let text = try party.logoutToken()
    #expect(try await manager.handleLogoutToken(text, for: configuration) == ["a", "c"])
    #expect(await store.list() == ["b"])
    // If the record is not damaged, another host may be able to read it, and the logout token may
    // be for its account. So this host must not report success.
    let next = try party.logoutToken()
    if code == .storeDamaged {
      #expect(try await manager.handleLogoutToken(next, for: configuration) == [])
    } else {
      await failure(code) { try await manager.handleLogoutToken(next, for: configuration) }
    }
  }

  /// Returns a signed-in user, and the records of two sign-ins in one account: the sign-in that the
  /// user's logout token names, and another sign-in.
  private func twoSignIns() async throws -> (
    party: OpenIDFixture, named: AccountRecord, other: AccountRecord
  ) {
    let party = try await OpenIDFixture(.es256)
    try await party.signIn()
    let named = try await party.record("one")
    let other = AccountRecord(
      id: "one", clientID: named.clientID, issuer: named.issuer, session: "other",
      token: SQToken(accessToken: "other", refreshToken: "O"))
    return (party, named, other)
  }

  /// Another process replaces the sign-in in the store, and this process has not noticed it yet.
  @Test(arguments: [false, true])
  func `a logout token ends only the named one of two sign-ins, in memory or in the store`(
    namesNew: Bool
  ) async throws {
    let (party, named, other) = try await twoSignIns()
    let (old, new) = namesNew ? (other, named) : (named, other)
    let store = MemoryTokenStore()
    await store.save(old)
    let manager = AccountManager(store: store, environment: party.oauth.environment)
    let configuration = try #require(party.oauth.module.configuration)
    let module = try await manager.account(configuration, id: "one")
    let recorder = RefreshRecorder.listening(to: module.events())
    await store.save(new)
    let text = try party.logoutToken()
    #expect(try await manager.handleLogoutToken(text, for: configuration) == ["one"])
    let replaced = "replaced \(new.token.accessToken)"
    if namesNew {
      #expect(module.currentToken == nil)
      #expect(await store.list() == [])
      #expect(await recorder.words(2) == [replaced, "ended loggedOut"])
    } else {
      #expect(module.currentToken == other.token)
      #expect(await store.load("one") == other)
      #expect(await recorder.words(1) == [replaced])
    }
  }

  @Test(arguments: [false, true])
  func `if the store cannot be read, a logout fails, and ends no other sign-in than the named one`(
    namesNew: Bool
  ) async throws {
    let (party, named, other) = try await twoSignIns()
    let (old, new) = namesNew ? (other, named) : (named, other)
    let store = ScriptedStore()
    try await store.save(old)
    let manager = AccountManager(store: store, environment: party.oauth.environment)
    let module = try await manager.account(
      #require(party.oauth.module.configuration), id: "one")
    await store.memory.save(new)
    let text = try party.logoutToken()
    store.fails(toLoad: true)
    await failure(.storeFailed) { try await module.handleLogoutToken(text) }
    #expect(module.currentToken == (namesNew ? other.token : nil))
    store.fails()
    // The provider sends the token again.
    #expect(try await module.handleLogoutToken(text).endedSession == namesNew)
    #expect(module.currentToken == (namesNew ? nil : other.token))
    #expect(await store.memory.load("one") == (namesNew ? nil : other))
  }

  @Test func `a logout token ends the named sign-in although another client's replaced it`()
    async throws
  {
    let party = try await OpenIDFixture(.es256)
    try await party.signIn()
    let named = try await party.record("one")
    let store = MemoryTokenStore()
    await store.save(named)
    let manager = AccountManager(store: store, environment: party.oauth.environment)
    let configuration = try #require(party.oauth.module.configuration)
    let module = try await manager.account(configuration, id: "one")
    let other = AccountRecord(
      id: "one", clientID: "another-client", issuer: named.issuer, session: "other",
      token: SQToken(accessToken: "other", refreshToken: "O"))
    await store.save(other)
    let text = try party.logoutToken()
    #expect(try await manager.handleLogoutToken(text, for: configuration) == ["one"])
    #expect(module.currentToken == nil)
    #expect(await store.load("one") == other)
  }

  @Test func `a token for one client does not end another client's sessions`() async throws {
    let party = try await OpenIDFixture(.es256) { options in
      options.clients.append(SandboxClient(id: "second", secret: OpenIDFixture.secret))
    }
    let configuration = try #require(party.oauth.module.configuration)
    let second = try ClientConfiguration(
      clientID: "second", clientSecret: OpenIDFixture.secret,
      redirectURI: "http://127.0.0.1/callback", scope: "openid", provider: configuration.provider)
    let manager = AccountManager(
      store: MemoryTokenStore(), environment: party.oauth.environment)
    let modules = [
      try await manager.account(configuration, id: "one"),
      try await manager.account(second, id: "two"),
    ]
    for module in modules { try await module.signIn() }
    let subjects = Set(modules.map { $0.currentToken?.idToken?.subject })
    #expect(subjects.count == 1 && subjects != [nil])
    let text = try party.logoutToken(session: false)
    #expect(try await manager.handleLogoutToken(text, for: configuration) == ["one"])
    #expect(modules[0].currentToken == nil && modules[1].currentToken != nil)
    #expect(try await manager.store.list() == ["two"])
  }

  @Test func `a logout token works only once if OneTimeValues has only its required method`()
    async throws
  {
    let party = try await OpenIDFixture(.es256)
    party.oauth.environment.oneTimeValues = NotingOnly()
    let text = try party.logoutToken()
    for isFirst in [true, false] {
      try await party.signIn()
      if isFirst {
        #expect(try await party.oauth.handleLogoutToken(text).endedSession)
      } else {
        await failure(.logoutTokenInvalid) { try await party.oauth.handleLogoutToken(text) }
        #expect(party.oauth.isAuthorized)
      }
    }
  }
}

/// A `OneTimeValues` with only the required method.
private struct NotingOnly: OneTimeValues {
  let memory = MemoryOneTimeValues()

  func isFirstUse(of value: String, until end: Date, at now: Date) async throws -> Bool {
    memory.isFirstUse(of: value, until: end, at: now)
  }
}
