import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// How a sign-in uses the app's store.
@Suite(.timeLimit(.minutes(1))) struct StoreTests {
  @Test func `a sign-in saves its complete token once under the account's name`() async throws {
    let fixture = try OAuthFixture(
      answer: ScriptedTransport.token(members: #""refresh_token":"R""#), accountID: "alice"
    ).register(
      provider: .endpoints(
        authorization: "https://id.example/a", token: "https://id.example/t",
        issuer: "https://id.example"))
    let token = try await fixture.oauth.signIn()
    #expect(await fixture.store.list() == ["alice"])
    let record = try #require(await fixture.store.load("alice"))
    #expect(
      record
        == AccountRecord(
          id: "alice", clientID: "client", issuer: "https://id.example",
          tokenEndpoint: "https://id.example/t", session: record.session, token: token))
    #expect(record.session != nil)
  }

  @Test func `the token is in the store before any delegate is notified`() async throws {
    let fixture = try OAuthFixture().register()
    let store = ScriptedStore()
    fixture.oauth.environment.tokenStore = store
    store.saving.close()
    fixture.oauth.authorizeUser()
    try await store.saving.isHolding()
    await fixture.oauth.delegatesWereCalled()
    #expect(fixture.delegate.events.isEmpty && fixture.oauth.isSigningIn)
    store.saving.open()
    #expect(await fixture.delegate.events(1) == [.authorized("T")])
    #expect(await store.memory.load("default")?.token == fixture.delegate.tokens.first)
  }

  @Test
  func `if the token cannot be stored, the user is signed in and the store's error is reported`()
    async throws
  {
    let fixture = try OAuthFixture().register()
    let recorder = RefreshRecorder()
    fixture.oauth.tokenRefreshDelegate = recorder
    fixture.oauth.environment.tokenStore = FailingStore(FailingStore.Full())
    #expect(try await fixture.oauth.signIn().accessToken == "T")
    #expect(fixture.oauth.isAuthorized && fixture.oauth.result.token?.accessToken == "T")
    #expect(await fixture.delegate.events(1) == [.authorized("T")])
    #expect(await recorder.words(1) == ["failed store_failed"])
    guard case .refreshFailed(let error)? = recorder.events.first else { return }
    #expect(error.cause is FailingStore.Full)
    await failure(.storeFailed) { try await fixture.oauth.flush() }
  }

  @Test func `a failure to read the tokens at the start is reported to delegates and streams`()
    async throws
  {
    let fixture = try OAuthFixture().register()
    let recorder = RefreshRecorder()
    fixture.oauth.tokenRefreshDelegate = recorder
    let stream = RefreshRecorder.listening(to: fixture.oauth.events())
    fixture.oauth.keepTokens(in: FailingStore(FailingStore.Full(), toLoad: true))
    #expect(await recorder.words(1) == ["failed store_failed"])
    #expect(await stream.words(1) == ["failed store_failed"])
  }

  @Test func `concurrent changes of two environment properties are both kept`()
    async throws
  {
    let fixture = try OAuthFixture().register()
    let start = fixture.oauth.environment.storeRetryTime
    await withTaskGroup { group in
      for number in 1...200 {
        group.addTask { fixture.oauth.environment.landingPage.appName = "\(number)" }
        group.addTask { fixture.oauth.environment.storeRetryTime += .seconds(1) }
      }
    }
    #expect(fixture.oauth.environment.storeRetryTime == start + .seconds(200))
    #expect(fixture.oauth.environment.landingPage.appName != nil)
  }

  @Test func `an SDK error of a store is thrown unchanged`() async throws {
    let fixture = try OAuthFixture().register()
    fixture.oauth.environment.tokenStore = FailingStore(SQOAuthError(.invalidConfiguration, "x"))
    try await fixture.oauth.signIn()
    await failure(.invalidConfiguration) { try await fixture.oauth.flush() }
  }

  @Test func `signing out erases memory and store, and the next sign-in gets no old refresh token`()
    async throws
  {
    let fixture = try OAuthFixture(
      answer: ScriptedTransport.token(members: #""refresh_token":"R""#)
    )
    .register()
    _ = try await fixture.oauth.signIn()
    try await fixture.oauth.signOut()
    #expect(fixture.oauth.result.token == nil)
    #expect(await fixture.store.list().isEmpty)
    #expect(fixture.http.requests.count == 1, "the server gets no request")
    // The second user's server sends no refresh token, and the first user's must not come back.
    fixture.http.answer(ScriptedTransport.token("second"))
    let token = try await fixture.oauth.signIn()
    #expect(token.accessToken == "second" && token.refreshToken == nil)
    #expect(await fixture.store.load("default")?.token.refreshToken == nil)
  }

  @Test func `userDidSignOut erases memory at once and the store afterwards`() async throws {
    let fixture = try OAuthFixture().register()
    _ = try await fixture.oauth.signIn()
    fixture.oauth.userDidSignOut()
    #expect(fixture.oauth.result.token == nil)
    try await eventually { await fixture.store.list().isEmpty }
  }

  @Test func `signing out with a failing store erases memory and throws the error`() async throws {
    let fixture = try OAuthFixture().register()
    _ = try await fixture.oauth.signIn()
    fixture.oauth.environment.tokenStore = FailingStore(FailingStore.Full())
    await failure(.storeFailed) { try await fixture.oauth.signOut() }
    #expect(fixture.oauth.result.token == nil)
  }

  /// The erasure of a slow store must not erase the token of the following sign-in.
  @Test func `a sign-in right after userDidSignOut is stored after the erasure`() async throws {
    let fixture = try OAuthFixture().register()
    let store = ScriptedStore()
    fixture.oauth.environment.tokenStore = store
    _ = try await fixture.oauth.signIn()
    store.erasing.close()
    fixture.oauth.userDidSignOut()
    try await store.erasing.isHolding()
    let session = fixture.oauth.module.session
    let erase = session.account.lastWrite
    fixture.http.answer(ScriptedTransport.token("second"))
    let signIn = begin { try await fixture.oauth.signIn() }
    try await eventually { session.account.lastWrite !== erase }
    store.erasing.open()
    #expect(try await signIn.value.accessToken == "second")
    let changes = store.calls.filter { $0 != "load" }
    #expect(changes == ["save T -", "erase", "erased", "save second -"])
    #expect(fixture.oauth.result.token?.accessToken == "second")
    #expect(await store.content() == "second -")
  }
}
