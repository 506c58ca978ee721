import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// Stored accounts whose tokens a sandbox server issues.
@Suite("Accounts", .timeLimit(.minutes(1))) struct AccountManagerTests {
  let folder: TemporaryFolder
  let sandbox: SandboxServer
  let clock = ManualClock(now: Date())

  init() async throws {
    folder = try TemporaryFolder()
    sandbox = try await SandboxServer.start(SandboxOptions())
  }

  /// Creates the app's account manager as at a program start.
  ///
  /// Without a user, a browser that opens is a test failure.
  func manager(signingIn user: SandboxUser? = nil) -> AccountManager {
    var environment = ClientEnvironment()
    environment.clock = clock
    environment.userAgent = CustomUserAgent { url in
      guard let user else {
        Issue.record("a browser opened")
        return
      }
      _ = try await SandboxVisitor(user: user).visit(url)
    }
    return AccountManager(
      store: FileTokenStore(path: folder.file("accounts.json")), environment: environment)
  }

  func configuration(_ clientID: String = "sandbox-app") throws -> ClientConfiguration {
    try ClientConfiguration(
      clientID: clientID, clientSecret: clientID == "sandbox-service" ? "sandbox-secret" : nil,
      redirectURI: "http://127.0.0.1/callback", scope: "demo",
      provider: .issuer(sandbox.issuer.absoluteString))
  }

  func signIn(_ user: SandboxUser, id: String? = nil) async throws -> SQToken {
    try await manager(signingIn: user).account(try configuration(), id: id).signIn()
  }

  @Test func `a signed-in account is authorized after every restart`() async throws {
    let token = try await signIn(.alice, id: "alice")
    for _ in 1...3 {
      let account = try await manager().account(try configuration(), id: "alice")
      #expect(account.isAuthorized && account.currentToken == token)
      #expect(try await account.requestAccess() == token)
    }
    #expect(sandbox.requests(to: .token).count == 1)
  }

  @Test func `a refreshed token is stored completely and survives a restart`() async throws {
    let first = try await signIn(.alice)
    clock.advance(by: 3600)
    let second = try await manager().account(try configuration()).token()
    #expect(second.accessToken != first.accessToken)
    let restarted = try await manager().account(try configuration())
    #expect(restarted.currentToken == second && second.refreshToken != first.refreshToken)
    let record = try #require(try await manager().accounts().first)
    #expect(record.token == second && record.issuer == sandbox.issuer.absoluteString)
    #expect(record.id == "sandbox-app at \(sandbox.issuer.absoluteString)")
    #expect(record.id == AccountManager.defaultID(for: try configuration()))
  }

  @Test func `accounts are separate and can be listed, filtered by client and removed`()
    async throws
  {
    let alice = try await signIn(.alice, id: "alice")
    let bob = try await signIn(.bob, id: "bob")
    let service = try await manager().account(try configuration("sandbox-service"), id: "service")
    try await service.requestAccessTokenAsClient()
    let manager = manager()
    #expect(try await manager.accounts().map(\.id) == ["alice", "bob", "service"])
    #expect(try await manager.accounts(clientID: "sandbox-app").map(\.id) == ["alice", "bob"])
    #expect(try await manager.accounts(clientID: "nobody").isEmpty)
    let account = try await manager.account(try configuration(), id: "bob")
    #expect(account.currentToken == bob && alice != bob)
    try await manager.remove(id: "bob")
    #expect(account.currentToken == nil && manager.module(id: "bob") == nil)
    // This manager has no module for Alice's account.
    try await manager.remove(id: "alice")
    try await manager.remove(id: "nobody")
    #expect(try await manager.accounts().map(\.id) == ["service"])
    let gone = try await self.manager().account(try configuration(), id: "alice")
    #expect(gone.currentToken == nil)
    await failure(.notAuthorized) { try await gone.token() }
  }

  @Test func `a revoked account is removed from the store`() async throws {
    _ = try await signIn(.alice, id: "alice")
    let account = try await manager().account(try configuration(), id: "alice")
    try await account.revoke()
    #expect(try await manager().accounts().isEmpty)
    #expect(sandbox.requests(to: .revocation).count == 2)
  }

  @Test func `an account id returns the same account each time and is refused to another client`()
    async throws
  {
    let manager = manager()
    let module = try await manager.account(try configuration(), id: "a")
    #expect(try await manager.account(try configuration(), id: "a") === module)
    #expect(manager.module(id: "a") === module && manager.module(id: "b") == nil)
    let other = try configuration("sandbox-web")
    let error = await failure(.duplicateName) { try await manager.account(other, id: "a") }
    #expect(error?.message.contains("\"a\"") == true)
    #expect(manager.module(id: "a") === module)
    try await manager.remove(id: "a")
    #expect(try await manager.account(other, id: "a") !== module)
  }

  @Test func `a stored account of another client or server is not used`() async throws {
    _ = try await signIn(.alice, id: "a")
    let manager = manager()
    let stranger = try ClientConfiguration(
      clientID: "sandbox-app", redirectURI: "http://127.0.0.1/callback",
      provider: .issuer("https://id.example"))
    for wrong in [try configuration("sandbox-web"), stranger] {
      await failure(.invalidConfiguration) { try await manager.account(wrong, id: "a") }
      #expect(manager.module(id: "a") == nil)
    }
    #expect(try await manager.account(try configuration(), id: "a").isAuthorized)
  }

  /// A server without an issuer is identified by its token endpoint.
  @Test func `a token is not sent to another server that uses the same client ID`() async throws {
    func byHand(_ port: UInt16) throws -> ClientConfiguration {
      try ClientConfiguration(
        clientID: "sandbox-app", redirectURI: "http://127.0.0.1/callback",
        provider: .endpoints(
          authorization: sandbox.authorizationEndpoint.absoluteString,
          token: "http://127.0.0.1:\(port)/token"))
    }
    let port = UInt16(sandbox.tokenEndpoint.port ?? 0)
    try await manager(signingIn: .alice).account(try byHand(port), id: "a").signIn()
    await failure(.invalidConfiguration) {
      try await manager().account(try byHand(port ^ 1), id: "a")
    }
    #expect(try await manager().account(try byHand(port), id: "a").isAuthorized)
    // A provider that uses discovery is asked for its endpoints before it gets the token.
    let other = try await SandboxServer.start(SandboxOptions())
    let elsewhere = try await manager().account(
      try ClientConfiguration(
        clientID: "sandbox-app", redirectURI: "http://127.0.0.1/callback",
        provider: .issuer(other.issuer.absoluteString)), id: "a")
    clock.advance(by: 3600)
    await failure(.invalidConfiguration) { try await elsewhere.token() }
    #expect(other.requests(to: .token).isEmpty && elsewhere.currentToken != nil)
  }

  @Test(arguments: [
    (nil, "client at https://id.example/token"),
    ("https://id.example", "client at https://id.example"),
  ])
  func `the default account ID consists of the client ID and the issuer or the token endpoint`(
    issuer: String?, id: String
  ) throws {
    let configuration = try ClientConfiguration(
      clientID: "client",
      provider: .endpoints(token: "https://id.example/token", issuer: issuer))
    #expect(AccountManager.defaultID(for: configuration) == id)
  }

  @Test func `the client credentials token of a daemon is renewed after a restart`() async throws {
    let configuration = try configuration("sandbox-service")
    try await manager().account(configuration).requestAccessTokenAsClient(scope: "demo")
    clock.advance(by: 3600)
    let token = try await manager().account(configuration).token()
    #expect(!token.isExpired(at: clock.now) && token.refreshToken == nil)
    #expect(try await manager().accounts().first?.grant == .clientCredentials(scope: "demo"))
  }

  @Test func `an account's attributes are kept after refreshes and sign-ins`() async throws {
    let account = try await manager(signingIn: .alice).account(try configuration(), id: "a")
    account.attributes = ["name": "Alice"]
    try await account.signIn()
    clock.advance(by: 3600)
    _ = try await manager().account(try configuration(), id: "a").token()
    #expect(try await manager().accounts().first?.attributes == ["name": "Alice"])
    let again = try await manager(signingIn: .alice).account(try configuration(), id: "a")
    #expect(again.attributes == ["name": "Alice"])
    try await again.signIn()
    #expect(try await manager().accounts().first?.attributes == ["name": "Alice"])
  }

  @Test func `attributes set after the sign-in are stored with the next refresh`() async throws {
    func stored() async throws -> [String: String]? {
      try await manager().accounts().first?.attributes
    }
    let account = try await manager(signingIn: .alice).account(try configuration(), id: "a")
    try await account.signIn()
    account.attributes = ["name": "Alice"]
    clock.advance(by: 3600)
    _ = try await account.token()
    #expect(try await stored() == ["name": "Alice"])
    let other = try await manager().account(try configuration(), id: "a")
    other.attributes = ["name": "Alice B."]
    clock.advance(by: 3600)
    _ = try await other.token()
    #expect(try await stored() == ["name": "Alice B."])
    clock.advance(by: 3600)
    _ = try await account.token()
    #expect(try await stored() == ["name": "Alice B."])
  }

  @Test func `an unreadable store is an error, and the next call can succeed`() async throws {
    _ = try await signIn(.alice, id: "a")
    let manager = manager()
    let content = try Data(contentsOf: URL(filePath: folder.file("accounts.json")))
    try Data("{".utf8).write(to: URL(filePath: folder.file("accounts.json")))
    await failure(.storeDamaged) { try await manager.account(try configuration(), id: "a") }
    await failure(.storeDamaged) { try await manager.accounts() }
    try content.write(to: URL(filePath: folder.file("accounts.json")))
    #expect(try await manager.account(try configuration(), id: "a").isAuthorized)
  }

  // MARK: Loads at the same time

  /// A store in memory whose first reads fail; the very first one waits at a gate.
  final class FailingFirst: TokenStore {
    let gate = Gate(isOpen: false)
    private let failures: Int
    private let reads = Locked(0)
    private let memory = MemoryTokenStore()

    init(failures: Int) { self.failures = failures }

    func load(_ id: String) async throws -> AccountRecord? {
      let read = reads.withLock { reads in
        reads += 1
        return reads
      }
      if read == 1 { await gate.pass() }
      guard read > failures else { throw SQOAuthError(.storeFailed, "the store is busy") }
      return await memory.load(id)
    }

    func save(_ record: AccountRecord) async { await memory.save(record) }
    func erase(_ id: String) async { await memory.erase(id) }
    func list() async -> [String] { await memory.list() }
  }

  @Test func `a caller keeps the account's module although an earlier load fails`() async throws {
    let store = FailingFirst(failures: 1)
    let manager = AccountManager(store: store)
    let configuration = try configuration()
    let first = begin { try await manager.account(configuration, id: "a") }
    try await store.gate.isHolding()
    let second = try await manager.account(configuration, id: "a")
    store.gate.open()
    await failure(.storeFailed) { try await first.value }
    #expect(try await manager.account(configuration, id: "a") === second)
  }

  @Test func `a module that a caller finds during a failing load remains the account's module`()
    async throws
  {
    let store = FailingFirst(failures: 1)
    let manager = AccountManager(store: store)
    let configuration = try configuration()
    let first = begin { try await manager.account(configuration, id: "a") }
    try await store.gate.isHolding()
    let module = try #require(manager.module(id: "a"))
    store.gate.open()
    await failure(.storeFailed) { try await first.value }
    #expect(try await manager.account(configuration, id: "a") === module)
  }

  @Test func `after two failed loads, the account may have another configuration`() async throws {
    let store = FailingFirst(failures: 2)
    let manager = AccountManager(store: store)
    let configuration = try configuration()
    let first = begin { try await manager.account(configuration, id: "a") }
    try await store.gate.isHolding()
    await failure(.storeFailed) { try await manager.account(configuration, id: "a") }
    store.gate.open()
    await failure(.storeFailed) { try await first.value }
    let other = try self.configuration("sandbox-web")
    #expect(try await manager.account(other, id: "a").configuration == other)
  }
}
