import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// Objects of an app that call the SDK when they are released.
///
/// If the SDK released such an object under a lock that the call needs, the program would end.
@Suite(.timeLimit(.minutes(1))) struct ReleasedObjectsTests {
  /// How often callers were released.
  private final class Releases: Sendable {
    private let state = Locked(0)
    var count: Int { state.withLock(\.self) }
    func add() { state.withLock { $0 += 1 } }
  }

  private let fixture: OAuthFixture
  private let releases = Releases()
  private var oauth: SQOAuth { fixture.oauth }

  init() throws {
    fixture = try OAuthFixture().register()
  }

  /// Returns an object that counts its release and then uses the fixture's account.
  private func caller() -> Caller {
    Caller { [oauth = fixture.oauth, releases] in
      releases.add()
      oauth.cancelSignIn()
      oauth.environment.landingPage.appName = "released"
      oauth.module.attributes["released"] = "yes"
      _ = oauth.module.configuration
      oauth.module.refreshesAutomatically = false
    }
  }

  @Test func `a user agent that is replaced may use the account in its deinit`() {
    oauth.environment.userAgent = CustomUserAgent { [caller = caller()] _ in
      withExtendedLifetime(caller) {}
    }
    oauth.environment.userAgent = CustomUserAgent { _ in }
    #expect(releases.count == 1)
    #expect(oauth.environment.landingPage.appName == "released")
  }

  @Test func `a store that is replaced may use the account in its deinit`() async throws {
    oauth.environment.tokenStore = HoldingStore(caller())
    oauth.environment.tokenStore = MemoryTokenStore()
    try await eventually("the store is released") { releases.count == 1 }
  }

  @Test func `a client that is replaced may use the account in its deinit`() throws {
    let client = try #require(oauth.module.configuration)
    oauth.register(Self.client(client, holding: caller()))
    oauth.register(client)
    #expect(releases.count == 1)
  }

  @Test func `the client of a released account may use the account's manager in its deinit`()
    async throws
  {
    let manager = AccountManager(store: MemoryTokenStore())
    let caller = { [releases] in
      Caller {
        releases.add()
        _ = manager.module(id: "a")
      }
    }
    let client = try #require(oauth.module.configuration)
    _ = try await manager.account(Self.client(client, holding: caller()), id: "a")
    manager.release(id: "a")
    try await eventually("the account's module is released") { releases.count == 1 }
  }

  /// An ended sign-in stays known, to identify a late redirect.
  @Test func `an ended sign-in keeps no user agent`() async throws {
    let agent = oauth.environment.userAgent
    oauth.environment.observer = ClientObserver { _ in }
    oauth.environment.userAgent = CustomUserAgent { [caller = caller()] url, signIn in
      withExtendedLifetime(caller) {}
      try await agent.open(url, for: signIn)
    }
    try await oauth.signIn()
    oauth.environment.userAgent = agent
    try await eventually("the user agent is released") { releases.count == 1 }
  }

  @Test func `the observer of an ended sign-in may use the account in its deinit`() async throws {
    oauth.environment.observer = ClientObserver { [caller = caller()] _ in
      withExtendedLifetime(caller) {}
    }
    try await oauth.signIn()
    await oauth.environment.observer?.flush()
    oauth.environment.observer = nil
    // The next sign-in takes the place of the known sign-in.
    try await oauth.signIn()
    try await eventually("the observer is released") { releases.count == 1 }
  }

  /// Returns a client whose assertion source holds an object.
  private static func client(
    _ client: ClientConfiguration, holding caller: Caller
  ) -> ClientConfiguration {
    var client = client
    client.grantAssertionSource = AssertionSource { _ in withExtendedLifetime(caller) { "" } }
    return client
  }

  /// A store that holds an object.
  private final class HoldingStore: TokenStore {
    private let caller: Caller

    init(_ caller: Caller) {
      self.caller = caller
    }

    func load(_ id: String) async throws -> AccountRecord? { nil }
    func save(_ record: AccountRecord) async throws {}
    func erase(_ id: String) async throws {}
    func list() async throws -> [String] { [] }
  }
}
