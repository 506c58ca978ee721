import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// Timers, waits and event streams must not keep a session alive.
@Suite("Lifetimes of modules", .timeLimit(.minutes(1))) struct LifetimeTests {
  /// The parts of an environment that a test keeps after the module is released.
  struct Parts {
    let clock = ManualClock()
    let store = ScriptedStore()
    let server = TokenServer()
    let http: ScriptedTransport

    init() {
      let server = server
      http = ScriptedTransport { try await server.answer($0) }
    }

    func module() throws -> AuthorizationModule {
      AuthorizationModule(configuration: try configuration, environment: environment)
    }

    func oauth() throws -> SQOAuth {
      let oauth = SQOAuth(environment: environment)
      oauth.register(try configuration)
      return oauth
    }

    var configuration: ClientConfiguration {
      get throws {
        try ClientConfiguration(
          clientID: "client", redirectURI: "com.example.app:/cb",
          provider: .endpoints(
            authorization: "https://id.example/authorize", token: "https://id.example/token"))
      }
    }

    var environment: ClientEnvironment {
      var environment = ClientEnvironment()
      environment.clock = clock
      environment.tokenStore = store
      environment.transport = http
      return environment
    }

    func save() async {
      await store.memory.save(
        AccountRecord(id: "default", clientID: "client", token: server.issue(at: clock.now)))
    }

    /// Checks that no request is sent during two days.
    func isSilent() async throws {
      try await eventually { self.clock.sleepers == 0 }
      let count = http.requests.count
      clock.advance(by: 86_400)
      clock.advance(by: 86_400)
      #expect(http.requests.count == count && clock.sleepers == 0)
    }
  }

  @Test func `a module is released while its timer sleeps`() async throws {
    let parts = Parts()
    await parts.save()
    let gone: Weak<AuthorizationModule>
    do {
      let module = try parts.module()
      gone = Weak(module)
      try await module.restore()
      module.refreshesAutomatically = true
      await parts.clock.hasSleeper()
    }
    #expect(gone.value == nil)
    try await parts.isSilent()
  }

  @Test func `an SQOAuth object with a token and a delegate is released while its timer sleeps`()
    async throws
  {
    let parts = Parts()
    let gone: Weak<SQOAuth>
    let module: Weak<AuthorizationModule>
    let observer = RefreshRecorder()
    do {
      let oauth = try parts.oauth()
      (gone, module) = (Weak(oauth), Weak(oauth.module))
      oauth.tokenRefreshDelegate = observer
      oauth.launchTokenTimerUpdate(with: parts.server.issue(at: parts.clock.now))
      await parts.clock.hasSleeper()
      parts.clock.advance(by: 3204)
      #expect(await observer.words(1) == ["refreshed T2"])
      await parts.clock.hasSleeper()
    }
    try await eventually { gone.value == nil && module.value == nil }
    try await parts.isSilent()
    #expect(observer.words.count == 1)
  }

  @Test func `an event stream does not keep its AuthorizationModule alive, and ends with it`()
    async throws
  {
    let parts = Parts()
    await parts.save()
    let gone: Weak<AuthorizationModule>
    let heard: Task<[String], Never>
    do {
      let module = try parts.module()
      gone = Weak(module)
      try await module.restore()
      let events = module.events()
      heard = Task { await events.reduce(into: []) { $0.append($1.word) } }
      try await module.refresh()
    }
    try await eventually { gone.value == nil }
    #expect(await heard.value == ["refreshed T2"])
  }

  @Test func `event readers that stop do not affect later refreshes and new readers`() async throws
  {
    let fixture = try await SessionFixture().restored()
    let module = fixture.module
    for _ in 0..<20 {
      let listener = Task { for await _ in module.events() { break } }
      let other = Task { for await _ in module.events() {} }
      await Task.yield()
      other.cancel()
      await other.value
      try await module.refresh()
      listener.cancel()
      await listener.value
    }
    let last = RefreshRecorder.listening(to: module.events())
    try await module.refresh()
    #expect(await last.words(1) == ["refreshed T22"])
  }

  @Test func `if a module is released during a refresh, the new token is still stored`()
    async throws
  {
    let parts = Parts()
    await parts.save()
    parts.server.gate.close()
    let gone: Weak<AuthorizationModule>
    do {
      let module = try parts.module()
      gone = Weak(module)
      try await module.restore()
      module.refreshesAutomatically = true
      parts.clock.advance(by: 3600)
      try await parts.server.gate.isHolding()
    }
    parts.server.gate.open()
    // The server has rotated the refresh token, so the next start of the program needs the new one.
    try await eventually { await parts.store.content() == "T2 R2" }
    try await eventually { gone.value == nil }
    try await parts.isSilent()
  }

  @Test func `the tokenRefreshDelegate is held weakly`() async throws {
    let fixture = try await SessionFixture().updating()
    let gone: Weak<RefreshRecorder>
    do {
      let delegate = RefreshRecorder()
      gone = Weak(delegate)
      fixture.oauth.tokenRefreshDelegate = delegate
    }
    #expect(gone.value == nil && fixture.oauth.tokenRefreshDelegate == nil)
    fixture.clock.advance(by: 3600)
    try await eventually { fixture.memory == "T2 R2" }
    try await fixture.oauth.signOut()
  }
}

/// A weak reference to an object that a test must not keep alive.
struct Weak<Object: AnyObject & Sendable>: Sendable {
  weak let value: Object?

  init(_ object: Object) { value = object }
}
