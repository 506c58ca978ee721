import Foundation
import SequencingOAuth
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// The app's own values, which are stored without a new token.
@Suite(.timeLimit(.minutes(1))) struct AttributesTests {
  private let store = ScriptedStore()
  private let module: AuthorizationModule

  init() async throws {
    let configuration = try ClientConfiguration(
      clientID: "client",
      provider: .endpoints(
        authorization: "https://id.example/authorize", token: "https://id.example/token",
        issuer: "https://id.example"))
    try await store.save(Self.record("T1"))
    var environment = ClientEnvironment()
    environment.storeRetryTime = .zero
    module = try await AccountManager(store: store, environment: environment)
      .account(configuration, id: "default")
  }

  private static func record(
    _ token: String, _ attributes: [String: String] = [:]
  ) -> AccountRecord {
    AccountRecord(
      id: "default", clientID: "client", issuer: "https://id.example", session: "one",
      token: SQToken(accessToken: token, refreshToken: "R"), attributes: attributes)
  }

  @Test func `a flush stores attributes that were set after a sign-in`() async throws {
    module.attributes = ["name": "Alice"]
    try await module.flush()
    #expect(await store.memory.load("default") == Self.record("T1", ["name": "Alice"]))
    #expect(module.currentToken?.accessToken == "T1")
    // The attributes have not changed since the first flush.
    let saves = store.saves.count
    try await module.flush()
    #expect(store.saves.count == saves)
    module.attributes = [:]
    try await module.flush()
    #expect(await store.memory.load("default")?.attributes == [:])
  }

  @Test func `new attributes keep what a later version has added to the stored record`()
    async throws
  {
    let json = String(decoding: try Self.record("T1").json(), as: UTF8.self)
    let later = try #require(
      try StoredDecoder.value(
        AccountRecord.self, from: Data(#"{"later":1,\#(json.dropFirst())"#.utf8)))
    // Another process, of the later version, has saved the record since this one read it.
    await store.memory.save(later)
    module.attributes = ["name": "Alice"]
    try await module.flush()
    #expect(await store.memory.load("default") == later.with(attributes: ["name": "Alice"]))
    #expect(await store.memory.load("default")?.laterMembers == ["later": 1])
  }

  /// A sign-in sets attributes before the user is there, and its failure restores them.
  @Test(arguments: [true, false])
  func `restored attributes are stored only if the store has the changed ones`(
    isStored: Bool
  ) async throws {
    module.attributes = ["name": "Alice"]
    try await module.flush()
    let saves = store.saves.count
    let earlier = module.context.savedAttributes
    module.attributes = ["name": "Bob"]
    if isStored { try await module.flush() }
    module.context.restoreAttributes(earlier, of: module.session.record)
    #expect(module.attributes == ["name": "Alice"])
    try await module.flush()
    #expect(await store.memory.load("default") == Self.record("T1", ["name": "Alice"]))
    #expect(store.saves.count == (isStored ? saves + 2 : saves))
  }

  @Test func `restored attributes that were never set are those of the account's record`() {
    let earlier = module.context.savedAttributes
    module.attributes = ["name": "Alice"]
    module.context.restoreAttributes(earlier, of: Self.record("T1", ["name": "Bob"]))
    #expect(module.attributes == ["name": "Bob"] && module.context.newAttributes == nil)
  }

  @Test func `attributes that many threads set at the same time are all kept`() async throws {
    let module = module
    await withTaskGroup { group in
      for number in 0..<400 {
        group.addTask { module.attributes["key \(number)"] = "\(number)" }
      }
    }
    #expect(module.attributes.count == 400)
    // While a thread changes the attributes in place, it may also set another value.
    func change(_ attributes: inout [String: String]) {
      module.attributes["inner"] = "lost"
      attributes["outer"] = "kept"
    }
    change(&module.attributes)
    #expect(module.attributes["outer"] == "kept")
  }

  @Test func `a flush of attributes keeps a newer token in the store`() async throws {
    await store.memory.save(Self.record("T2", ["name": "Bob"]))
    module.attributes = ["name": "Alice"]
    try await module.flush()
    #expect(await store.memory.load("default") == Self.record("T2", ["name": "Alice"]))
    #expect(module.currentToken?.accessToken == "T2")
  }

  @Test func `a flush of attributes does not restore an account that another process erased`()
    async throws
  {
    await store.memory.erase("default")
    module.attributes = ["name": "Alice"]
    try await module.flush()
    #expect(await store.memory.load("default") == nil && module.currentToken == nil)
  }

  @Test(arguments: [true, false])
  func `if the store fails, flush throws an error, and a later flush stores the attributes`(
    failsToLoad: Bool
  ) async throws {
    store.fails(toLoad: failsToLoad, toSave: !failsToLoad)
    module.attributes = ["name": "Alice"]
    await failure(.storeFailed) { try await module.flush() }
    #expect(module.currentToken?.accessToken == "T1")
    store.fails()
    try await module.flush()
    #expect(await store.memory.load("default")?.attributes == ["name": "Alice"])
  }

  /// Returns a session that has not read its stored account, which has an earlier token.
  private func unread() async throws -> SessionFixture {
    let fixture = try SessionFixture()
    await fixture.store.memory.save(
      AccountRecord(
        id: "default", clientID: "client", token: fixture.server.issue(at: fixture.clock.now - 60),
        attributes: ["name": "Alice"]))
    return fixture
  }

  @Test func `a grant that can be repeated keeps the attributes of a store that fails at first`()
    async throws
  {
    let fixture = try await unread()
    fixture.store.fails(toLoad: true)
    await failure(.storeFailed) { try await fixture.module.requestAccessTokenAsClient() }
    #expect(fixture.requests.isEmpty)
    fixture.store.fails()
    try await fixture.module.requestAccessTokenAsClient()
    #expect(await fixture.store.content() == "T2 R2")
    #expect(await fixture.store.memory.load("default")?.attributes == ["name": "Alice"])
  }

  @Test func `a store that cannot be read does not stop a grant if the app has set the attributes`()
    async throws
  {
    let fixture = try await unread()
    fixture.store.fails(toLoad: true)
    fixture.module.attributes = ["name": "Bob"]
    try await fixture.module.requestAccessTokenAsClient()
    #expect(await fixture.store.memory.load("default")?.attributes == ["name": "Bob"])
  }

  @Test func `a damaged record does not stop a grant that the client can repeat`() async throws {
    let fixture = try SessionFixture()
    fixture.oauth.environment.tokenStore =
      PartlyBrokenStore(["default"], fails: .toLoad(.storeDamaged))
    #expect(try await fixture.module.requestAccessTokenAsClient().accessToken == "T1")
  }

  @Test func `a record of a later version is not replaced, even if the app has set the attributes`()
    async throws
  {
    let fixture = try SessionFixture()
    fixture.oauth.environment.tokenStore =
      PartlyBrokenStore(["default"], fails: .toLoad(.storeTooNew))
    fixture.module.attributes = ["name": "Bob"]
    await failure(.storeTooNew) { try await fixture.module.requestAccessTokenAsClient() }
  }

  @Test func `a token that the app passes in gets the attributes of the stored account`()
    async throws
  {
    let fixture = try await unread()
    try await fixture.module.adopt(fixture.server.issue(at: fixture.clock.now))
    #expect(await fixture.store.content() == "T2 R2")
    #expect(await fixture.store.memory.load("default")?.attributes == ["name": "Alice"])
    #expect(fixture.module.attributes == ["name": "Alice"])
  }

  @Test func `a flush of attributes does not make an invalidated token valid`() async throws {
    module.session.invalidate()
    module.attributes = ["name": "Alice"]
    try await module.flush()
    #expect(module.session.validToken == nil)
  }
}
