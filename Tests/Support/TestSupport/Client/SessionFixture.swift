import Foundation
import SQBasics
import SequencingOAuth

/// An ``OAuthFixture`` whose server issues numbered tokens and whose store a test controls.
final class SessionFixture: Sendable {
  let fixture: OAuthFixture
  let server = TokenServer()
  let store = ScriptedStore()
  let observer = RefreshRecorder()

  var oauth: SQOAuth { fixture.oauth }
  var module: AuthorizationModule { fixture.oauth.module }
  var clock: ManualClock { fixture.clock }

  init(
    lifetime: Int? = 3600, browser: @escaping OAuthFixture.Browser = OAuthFixture.allow,
    change: (inout ClientConfiguration) -> Void = { _ in }
  ) throws {
    let server = server
    fixture = try OAuthFixture(answer: { try await server.answer($0) }, browser: browser)
      .register(change: change)
    server.change { $0.lifetime = lifetime }
    oauth.environment.tokenStore = store
    oauth.tokenRefreshDelegate = observer
    // The timer must not act between a test's own steps, unless the test is about the timer.
    oauth.refreshesAutomatically = false
  }

  /// Every request in order, such as `refresh R1` and `GET /files T1`.
  var requests: [String] {
    fixture.http.requests.map { request in
      let form = ScriptedTransport.form(of: request) ?? [:]
      switch form["grant_type"] {
      case "refresh_token"?: return "refresh \(form["refresh_token"] ?? "-")"
      case let grant?: return grant
      case nil:
        let token = request.headers["Authorization"]?.split(separator: " ").last ?? "-"
        return "\(request.method) \(request.url.path()) \(token)"
      }
    }
  }

  /// The refresh tokens that were sent, in order.
  var refreshes: [String] {
    requests.filter { $0.hasPrefix("refresh ") }.map { String($0.dropFirst("refresh ".count)) }
  }

  /// The access token and the refresh token in memory, such as `T1 R1`.
  var memory: String? { module.currentToken.map(ScriptedStore.words) }

  /// Returns a record of the default account, by default for the fixture's client.
  func record(_ token: SQToken, clientID: String = "client") -> AccountRecord {
    AccountRecord(id: "default", clientID: clientID, token: token)
  }

  /// Restores a session with T1 and R1 from the store.
  ///
  /// Its timer does not run.
  @discardableResult
  func restored() async throws -> Self {
    await store.memory.save(record(server.issue(at: clock.now)))
    try await module.restore()
    return self
  }

  /// Makes the module refresh its token with a timer, as the module of an ``SQOAuth`` does.
  func withTimer() -> Self {
    module.refreshesAutomatically = true
    return self
  }

  /// Restores a session with T1 and R1 from the store, and waits until its timer runs.
  @discardableResult
  func updating() async throws -> Self {
    try await restored()
    module.refreshesAutomatically = true
    await clock.hasSleeper()
    return self
  }
}

/// Starts a task, and runs it up to its first wait before this function returns.
///
/// On Apple's systems before version 26, the task may start later.
func begin<Success: Sendable>(
  _ work: @escaping @Sendable () async throws -> Success
) -> Task<Success, any Error> {
  if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
    return Task.immediate { try await work() }
  }
  return Task { try await work() }
}
