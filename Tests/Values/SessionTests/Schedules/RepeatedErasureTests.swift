import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// The repetition of an erasure that failed, after another process has changed the account.
@Suite("A repeated erasure", .timeLimit(.minutes(1))) struct RepeatedErasureTests {
  let fixture: SessionFixture

  init() throws {
    fixture = try SessionFixture()
  }

  /// Stores the next token as another process does, with the identifier of a sign-in.
  private func store(session: String?) async {
    let token = fixture.server.issue(at: fixture.clock.now)
    await fixture.store.memory.save(
      AccountRecord(id: "default", clientID: "client", session: session, token: token))
  }

  /// Signs out while the store cannot erase the account; afterwards the store works again.
  private func signOutInVain() async {
    fixture.store.fails(toErase: true)
    await failure(.storeFailed) { try await fixture.module.signOut() }
    fixture.store.fails()
  }

  private var erasures: Int { fixture.store.calls.count { $0 == "erase" } }

  @Test func `a sign-in by another process after the failure is not erased but taken over`()
    async throws
  {
    await store(session: "first")
    try await fixture.module.restore()
    await signOutInVain()
    await store(session: "second")
    #expect(try await fixture.module.restore())
    #expect(fixture.memory == "T2 R2")
    try await fixture.module.flush()
    #expect(await fixture.store.content() == "T2 R2")
    #expect(erasures == 1)
  }

  @Test func `flush() does not erase a sign-in by another process after the failure`() async throws
  {
    await store(session: "first")
    try await fixture.module.restore()
    await signOutInVain()
    await store(session: "second")
    try await fixture.module.flush()
    #expect(await fixture.store.content() == "T2 R2")
  }

  @Test func `while an erasure is repeated, no caller gets the error of a signed-out user`()
    async throws
  {
    await store(session: "first")
    try await fixture.module.restore()
    await signOutInVain()
    await store(session: "second")
    let module = fixture.module
    fixture.store.loading.close()
    let first = begin { try await module.restore() }
    try await fixture.store.loading.isHolding()
    let second = begin { try await module.restore() }
    fixture.store.loading.open()
    let (isFirstIn, isSecondIn) = (try await first.value, try await second.value)
    #expect(isFirstIn && isSecondIn)
    #expect(fixture.memory == "T2 R2")
  }

  /// A keyring may ask the user at each attempt.
  @Test func `callers that wait for a repeated erasure share its failure`() async throws {
    await store(session: "first")
    try await fixture.module.restore()
    await signOutInVain()
    fixture.store.fails(toErase: true)
    let module = fixture.module
    fixture.store.loading.close()
    let first = begin { await failure(.storeFailed) { try await module.restore() } }
    try await fixture.store.loading.isHolding()
    let second = begin { await failure(.storeFailed) { try await module.restore() } }
    fixture.store.loading.open()
    _ = (try await first.value, try await second.value)
    #expect(erasures == 2)
    #expect(await fixture.store.content() == "T1 R1")
  }

  /// The calls of an app that read the store first.
  static let calls: [(name: String, call: @Sendable (SQOAuth) async throws -> Void)] = [
    ("token", { _ = try await $0.token() }),
    ("requestAccess", { try await $0.requestAccess() }),
    ("narrowedToken", { _ = try await $0.narrowedToken(scope: "demo") }),
    ("restore", { try await $0.restore() }),
  ]

  @Test(arguments: calls)
  func `a cancelled caller does not wait for a repeated erasure, which continues`(
    name: String, call: @escaping @Sendable (SQOAuth) async throws -> Void
  ) async throws {
    await store(session: "first")
    try await fixture.module.restore()
    await signOutInVain()
    fixture.store.loading.close()
    let oauth = fixture.oauth
    let caller = begin { try await call(oauth) }
    try await fixture.store.loading.isHolding()
    caller.cancel()
    await failure(.cancelled) { try await caller.value }
    fixture.store.loading.open()
    try await fixture.module.flush()
    #expect(await fixture.store.content() == nil)
  }

  @Test func `a cancelled sign-in ends although the store repeats an erasure`() async throws {
    await store(session: "first")
    try await fixture.module.restore()
    await signOutInVain()
    fixture.store.loading.close()
    let module = fixture.module
    let caller = begin { try await module.signIn() }
    try await fixture.store.loading.isHolding()
    let signIn = try #require(module.signIns.underWay)
    module.cancelSignIn()
    #expect(await signIn.work.outcome.wait().error?.code == .cancelled)
    await failure(.cancelled) { try await caller.value }
    fixture.store.loading.open()
    try await module.flush()
    #expect(fixture.fixture.opened.isEmpty)
  }

  /// A record without an identifier may be of the ended sign-in.
  @Test(arguments: ["first", nil])
  func `a token that another process got for the ended sign-in is erased`(session: String?)
    async throws
  {
    await store(session: "first")
    try await fixture.module.restore()
    await signOutInVain()
    await store(session: session)
    await failure(.notAuthorized) { try await fixture.module.token() }
    #expect(await fixture.store.content() == nil)
    #expect(fixture.requests.isEmpty)
  }

  @Test(arguments: [true, false])
  func `a sign-out before the first reading erases only the sign-in that the store had then`(
    isReplaced: Bool
  ) async throws {
    await store(session: "first")
    await signOutInVain()
    if isReplaced { await store(session: "second") }
    #expect(try await fixture.module.restore() == isReplaced)
    #expect(await fixture.store.content() == (isReplaced ? "T2 R2" : nil))
  }

  @Test func `a sign-in of this process that was being saved at the sign-out is erased`()
    async throws
  {
    await store(session: "first")
    try await fixture.module.restore()
    fixture.store.saving.close()
    let module = fixture.module
    let grant = begin { try await module.requestAccessToken(grantType: "urn:example:grant") }
    try await fixture.store.saving.isHolding()
    fixture.store.fails(toErase: true)
    let erasure = fixture.module.forgetSession()
    fixture.store.saving.open()
    await failure(.storeFailed) { try await erasure.wait().get() }
    _ = await grant.result
    #expect(await fixture.store.content() == "T2 R2")
    fixture.store.fails()
    await failure(.notAuthorized) { try await fixture.module.token() }
    #expect(await fixture.store.content() == nil)
  }

  @Test func `a record that cannot be read is not erased until it can be read`() async throws {
    await store(session: "first")
    try await fixture.module.restore()
    await signOutInVain()
    fixture.store.fails(toLoad: true)
    await failure(.storeFailed) { try await fixture.module.token() }
    #expect(await fixture.store.content() == "T1 R1")
    #expect(erasures == 1)
    fixture.store.fails()
    await failure(.notAuthorized) { try await fixture.module.token() }
    #expect(await fixture.store.content() == nil)
  }

  @Test func `a damaged record is erased`() async throws {
    let store = DamagedStore()
    fixture.oauth.environment.tokenStore = store
    await failure(.storeFailed) { try await fixture.module.signOut() }
    await failure(.notAuthorized) { try await fixture.module.token() }
    #expect(await store.isErased)
  }

  @Test func `after a refusal, a token that another process stored after the failure is used`()
    async throws
  {
    await store(session: "first")
    try await fixture.module.restore()
    fixture.server.next(SessionEndTests.invalidGrant)
    fixture.store.fails(toErase: true)
    await failure(.invalidGrant) { try await fixture.module.refresh() }
    fixture.store.fails()
    await store(session: "first")
    #expect(try await fixture.module.token().accessToken == "T2")
    #expect(await fixture.store.content() == "T2 R2")
  }
}

/// A store with a damaged record, which fails to erase it once.
private actor DamagedStore: TokenStore {
  private var attempts = 0

  var isErased: Bool { attempts > 1 }

  func load(_ id: String) throws -> AccountRecord? {
    guard isErased else { throw SQOAuthError(.storeDamaged, "the record is damaged") }
    return nil
  }

  func save(_ record: AccountRecord) {}

  func erase(_ id: String) throws {
    attempts += 1
    guard isErased else { throw SQOAuthError(.storeFailed, "the account cannot be erased") }
  }

  func list() -> [String] { [] }
}
