import Foundation
import SQBasics
import SequencingOAuth
import SequencingOAuthPipes
import Testing

@testable import TestSupport

/// A session whose user another process replaces in the shared store.
@Suite("A session that another process replaces", .timeLimit(.minutes(1)))
struct ReplacedSessionTests {
  /// Returns a session with an expired token, whose store has the token of another sign-in.
  private func replaced(
    first: String? = "first", second: String? = "second", readsIfCancelled: Bool = true
  ) async throws -> SessionFixture {
    let fixture = try SessionFixture()
    if !readsIfCancelled {
      fixture.oauth.environment.tokenStore = CancellableStore(memory: fixture.store.memory)
    }
    await fixture.store.memory.save(Self.record(fixture.server.issue(at: fixture.clock.now), first))
    try await fixture.module.restore()
    fixture.clock.advance(by: 3600)
    await fixture.store.memory.save(
      Self.record(fixture.server.issue(at: fixture.clock.now), second))
    return fixture
  }

  private static func record(_ token: SQToken, _ session: String?) -> AccountRecord {
    AccountRecord(id: "default", clientID: "client", session: session, token: token)
  }

  @Test func `the app is notified that the token belongs to another sign-in`() async throws {
    let fixture = try await replaced()
    let stream = RefreshRecorder.listening(to: fixture.module.events())
    #expect(try await fixture.module.token().accessToken == "T2")
    #expect(await fixture.observer.words(1) == ["replaced T2"])
    #expect(await stream.words(1) == ["replaced T2"])
    #expect(fixture.requests.isEmpty)
  }

  @Test func `the app is also notified if the new token needs a refresh first`() async throws {
    let fixture = try await replaced()
    fixture.clock.advance(by: 3600)
    #expect(try await fixture.module.token().accessToken == "T3")
    #expect(await fixture.observer.words(2) == ["replaced T2", "refreshed T3"])
    #expect(fixture.refreshes == ["R2"])
  }

  @Test func `a request of the previous user is not sent with the new user's token`() async throws {
    let fixture = try await replaced()
    let url = try #require(URL(string: "https://api.example/files"))
    let error = await failure(.sessionReplaced) {
      try await fixture.module.send(WebRequest(url: url))
    }
    #expect(error?.requiresSignIn == false && error?.message.contains("\"default\"") == true)
    #expect(error?.message.hasSuffix("because it belongs to the previous sign-in") == true)
    #expect(fixture.requests.isEmpty)
    // The new user's requests are sent.
    #expect(try await fixture.module.send(WebRequest(url: url)).status == 200)
    #expect(fixture.requests == ["GET /files T2"])
  }

  @Test func `neither a pipe nor authenticate uses the new user's token for an old request`()
    async throws
  {
    let fixture = try await replaced()
    let url = try #require(URL(string: "https://api.example/files"))
    await failure(.sessionReplaced) { try await fixture.module.authenticate(WebRequest(url: url)) }
    let other = try await replaced()
    let pipe = try Pipeline("https://api.example", module: other.module).add("files")
    let error = await #expect(throws: PipeError.self) { try await pipe.read() }
    guard case .noAccess(let reason)? = error else {
      Issue.record("unexpected result: \(String(describing: error))")
      return
    }
    #expect(reason.code == .sessionReplaced)
    #expect(other.requests.isEmpty)
  }

  /// Registers a client that can revoke tokens, and lets its server answer with a status.
  private func revoking(_ fixture: SessionFixture, status: Int = 200) throws {
    try fixture.fixture.register(
      provider: .endpoints(
        authorization: "https://id.example/authorize", token: "https://id.example/token",
        revocation: "https://id.example/revoke"))
    fixture.fixture.http.answer { [server = fixture.server] request in
      guard request.url.path() == "/revoke" else { return try await server.answer(request) }
      return WebResponse(status: status)
    }
  }

  /// The tokens that the server was asked to revoke, in order.
  private func revoked(_ fixture: SessionFixture) -> [String] {
    fixture.fixture.http.forms.compactMap { $0["token"] }
  }

  @Test func `a revocation revokes the previous user's tokens, and the new user stays signed in`()
    async throws
  {
    let fixture = try await replaced()
    try revoking(fixture)
    let error = await failure(.sessionReplaced) { try await fixture.module.revoke() }
    #expect(error?.message.hasPrefix("the server has revoked the tokens of the earlier") == true)
    #expect(revoked(fixture) == ["R1", "T1"])
    #expect(await fixture.observer.words(1) == ["replaced T2"])
    #expect(fixture.memory == "T2 R2")
    #expect(await fixture.store.content() == "T2 R2")
    // The next revocation is the new user's.
    try await fixture.module.revoke()
    #expect(revoked(fixture) == ["R1", "T1", "R2", "T2"])
    #expect(fixture.memory == nil)
    #expect(await fixture.store.content() == nil)
  }

  @Test func `if the store cannot be read, a revocation does not sign the new user out`()
    async throws
  {
    let fixture = try await replaced()
    try revoking(fixture)
    fixture.store.fails(toLoad: true)
    let error = await failure(.storeFailed) { try await fixture.module.revoke() }
    #expect(error?.message.hasPrefix("the server has revoked the tokens, but the store") == true)
    #expect(revoked(fixture) == ["R1", "T1"])
    #expect(fixture.memory == nil)
    fixture.store.fails()
    #expect(try await fixture.module.token().accessToken == "T2")
    #expect(await fixture.store.content() == "T2 R2")
  }

  @Test func `a failed revocation of the previous user's tokens can be repeated`() async throws {
    let fixture = try await replaced()
    try revoking(fixture, status: 503)
    for _ in 0..<2 { await failure { try await fixture.module.revoke() } }
    #expect(Set(revoked(fixture)) == ["R1"])
    #expect(fixture.memory == "T1 R1")
    #expect(await fixture.store.content() == "T2 R2")
  }

  @Test func `a revocation that waits for a refresh revokes only the tokens of its own user`()
    async throws
  {
    let fixture = try await replaced()
    try revoking(fixture)
    let module = fixture.module
    fixture.store.loading.close()
    let caller = begin { try await module.token() }
    try await fixture.store.loading.isHolding()
    let revocation = begin { try await module.revoke() }
    fixture.store.loading.open()
    #expect(try await caller.value.accessToken == "T2")
    await failure(.sessionReplaced) { try await revocation.value }
    #expect(revoked(fixture) == ["R1", "T1"])
    #expect(fixture.memory == "T2 R2")
    #expect(await fixture.store.content() == "T2 R2")
  }

  @Test func `a revocation revokes its own tokens although the store has another client's sign-in`()
    async throws
  {
    let fixture = try SessionFixture()
    await fixture.store.memory.save(
      Self.record(fixture.server.issue(at: fixture.clock.now), "first"))
    try await fixture.module.restore()
    await fixture.store.memory.save(
      AccountRecord(
        id: "default", clientID: "other", session: "second",
        token: fixture.server.issue(at: fixture.clock.now)))
    try revoking(fixture)
    try await fixture.module.revoke()
    #expect(revoked(fixture) == ["R1", "T1"])
    #expect(await fixture.observer.words(1) == ["ended revoked"])
    #expect(fixture.memory == nil)
    #expect(await fixture.store.content() == "T2 R2")
  }

  /// The server fails, or it revokes no tokens.
  @Test(arguments: [true, false])
  func `a logout whose revocation fails does not sign another process's user out`(
    isSupported: Bool
  ) async throws {
    let fixture = try await replaced()
    if isSupported { try revoking(fixture, status: 503) }
    let error = await failure(.sessionReplaced) {
      try await fixture.oauth.endSession(revokesTokens: true)
    }
    let cause = error?.cause as? SQOAuthError
    #expect((cause?.code == .revocationUnsupported) == !isSupported)
    #expect(error?.message.contains("were not revoked (\(cause?.message ?? ""))") == true)
    #expect(fixture.memory == "T2 R2")
    #expect(await fixture.store.content() == "T2 R2")
    #expect(fixture.fixture.opened.isEmpty)
  }

  @Test func `a cancelled logout does not sign another process's user out`() async throws {
    let fixture = try await replaced(readsIfCancelled: false)
    try revoking(fixture)
    let (oauth, gate) = (fixture.oauth, Gate(isOpen: false))
    let logout = begin {
      await gate.opened()
      try await oauth.endSession(revokesTokens: true)
    }
    logout.cancel()
    let error = await failure(.sessionReplaced) { try await logout.value }
    #expect((error?.cause as? SQOAuthError)?.code == .cancelled)
    #expect(revoked(fixture).isEmpty && fixture.fixture.opened.isEmpty)
    #expect(fixture.memory == "T2 R2")
    #expect(await fixture.store.content() == "T2 R2")
  }

  @Test func `a revocation that is cancelled before the store is read sends nothing`()
    async throws
  {
    let fixture = try await replaced(readsIfCancelled: false)
    try revoking(fixture)
    let (module, gate) = (fixture.module, Gate(isOpen: false))
    let revocation = begin {
      await gate.opened()
      try await module.revoke()
    }
    revocation.cancel()
    await failure(.cancelled) { try await revocation.value }
    #expect(revoked(fixture).isEmpty && fixture.memory == "T1 R1")
    #expect(await fixture.store.content() == "T2 R2")
  }

  @Test func `a logout does not sign out a user who signs in during the revocation`() async throws {
    let fixture = try await SessionFixture().restored()
    let revoking = Gate(isOpen: false)
    try self.revoking(fixture)
    fixture.fixture.http.answer { [server = fixture.server] request in
      guard request.url.path() == "/revoke" else { return try await server.answer(request) }
      await revoking.pass()
      return WebResponse(status: 200)
    }
    let oauth = fixture.oauth
    let logout = begin { try await oauth.endSession(revokesTokens: true) }
    try await revoking.isHolding()
    #expect(try await oauth.signIn().accessToken == "T2")
    revoking.open()
    await failure(.sessionReplaced) { try await logout.value }
    #expect(fixture.memory == "T2 R2" && fixture.fixture.opened.count == 1)
    #expect(await fixture.store.content() == "T2 R2")
  }

  @Test func `a logout that revokes the previous user's tokens does not log the new user out`()
    async throws
  {
    let fixture = try await replaced()
    try revoking(fixture)
    await failure(.sessionReplaced) { try await fixture.oauth.endSession(revokesTokens: true) }
    #expect(revoked(fixture) == ["R1", "T1"])
    #expect(fixture.memory == "T2 R2")
    #expect(await fixture.store.content() == "T2 R2")
    #expect(fixture.fixture.opened.isEmpty)
  }

  @Test(arguments: [("same", "same"), (nil, "new"), ("old", nil)] as [(String?, String?)])
  func `a new token of the same or of an unknown sign-in is not reported as a replacement`(
    first: String?, second: String?
  ) async throws {
    let fixture = try await replaced(first: first, second: second)
    let url = try #require(URL(string: "https://api.example/files"))
    #expect(try await fixture.module.send(WebRequest(url: url)).status == 200)
    #expect(await fixture.observer.words(1) == ["taken over T2"])
  }

  /// Returns a session with an expired token that cannot be renewed: it has no refresh token.
  private func expired() async throws -> SessionFixture {
    let fixture = try SessionFixture()
    let token = SQToken(
      accessToken: "T0", expirationDate: fixture.clock.now.addingTimeInterval(3600))
    await fixture.store.memory.save(Self.record(token, "first"))
    try await fixture.module.restore()
    fixture.clock.advance(by: 3600)
    return fixture
  }

  @Test func `before the user must sign in again, the store may have another process's token`()
    async throws
  {
    let fixture = try await expired()
    let error = await failure(.notAuthorized) { try await fixture.module.token() }
    #expect(error?.message.contains("sign in again") == true)
    #expect(error?.message.contains("expired") == false)
    await fixture.store.memory.save(
      Self.record(fixture.server.issue(at: fixture.clock.now), "second"))
    #expect(try await fixture.module.token().accessToken == "T1")
    #expect(await fixture.observer.words(1) == ["replaced T1"])
    #expect(fixture.requests.isEmpty)
  }

  @Test func `if the store cannot be read, no user is asked to sign in again`() async throws {
    let fixture = try await expired()
    fixture.store.fails(toLoad: true)
    let error = await failure(.storeFailed) { try await fixture.module.token() }
    #expect(error?.requiresSignIn == false)
    fixture.store.fails()
    await failure(.notAuthorized) { try await fixture.module.token() }
  }

  /// The store has not saved the last token of the previous user.
  @Test func `a user who signs in elsewhere while the store fails replaces the session`()
    async throws
  {
    let fixture = try SessionFixture()
    await fixture.store.memory.save(
      Self.record(fixture.server.issue(at: fixture.clock.now), "first"))
    try await fixture.module.restore()
    fixture.store.fails(toSave: true)
    fixture.clock.advance(by: 3600)
    #expect(try await fixture.module.token().accessToken == "T2")
    fixture.store.fails()
    await fixture.store.memory.save(
      Self.record(fixture.server.issue(at: fixture.clock.now), "second"))
    try await fixture.module.flush()
    #expect(fixture.memory == "T3 R3")
    #expect(await fixture.observer.words(3).last == "replaced T3")
  }

  /// A token that the app passes in does not say to which sign-in it belongs.
  @Test func `a stored token that the app passes in again is not treated as another sign-in`()
    async throws
  {
    let fixture = try SessionFixture()
    let stored = Self.record(fixture.server.issue(at: fixture.clock.now), "first")
    await fixture.store.memory.save(stored)
    fixture.oauth.launchTokenTimerUpdate(with: stored.token)
    try await fixture.module.flush()
    #expect(await fixture.store.memory.load("default")?.session == "first")
    try await fixture.module.refresh()
    #expect(await fixture.store.memory.load("default")?.session == "first")
    #expect(await fixture.observer.words(1) == ["refreshed T2"])
  }

  @Test func `a stored token that is newer than the app's token is not treated as another sign-in`()
    async throws
  {
    let fixture = try SessionFixture()
    let copy = fixture.server.issue(at: fixture.clock.now)
    fixture.clock.advance(by: 10)
    await fixture.store.memory.save(
      Self.record(fixture.server.issue(at: fixture.clock.now), "first"))
    fixture.oauth.launchTokenTimerUpdate(with: copy)
    #expect(await fixture.observer.words(1) == ["taken over T2"])
    try await fixture.module.flush()
    #expect(fixture.memory == "T2 R2")
  }

  @Test func `a delegate without a method for replaced sessions is notified of a refresh`()
    async throws
  {
    final class Plain: TokenRefreshDelegate {
      let heard = Gate(isOpen: false)
      func tokenIsRefreshed(_ token: SQToken) { heard.open() }
    }
    let fixture = try await replaced()
    let plain = Plain()
    fixture.oauth.tokenRefreshDelegate = plain
    _ = try await fixture.module.token()
    await plain.heard.pass()
  }
}
