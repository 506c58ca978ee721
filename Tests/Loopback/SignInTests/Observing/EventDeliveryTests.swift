import Foundation
import OAuthSandbox
import SQBasics
import Synchronization
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuth
@testable import TestSupport

/// How events reach an observer, and what they never contain.
@Suite(.timeLimit(.minutes(1))) struct EventDeliveryTests {
  private func signedIn(
    _ observer: ClientObserver, _ options: SandboxOptions = SandboxOptions(),
    change: (inout ClientConfiguration) -> Void = { _ in }
  ) async throws -> SandboxFixture {
    let fixture = try await SandboxFixture(options, sharesClock: true)
    fixture.oauth.environment.observer = observer
    try fixture.register(scope: "openid profile demo", change: change)
    try await fixture.oauth.signIn()
    return fixture
  }

  @Test func `an observer that blocks stops no request, and its lost events are counted`()
    async throws
  {
    let (held, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let received = Locked<[ClientEvent]>([])
    let observer = ClientObserver(limit: 5) { event in
      let isFirst = received.withLock { events in
        events.append(event)
        return events.count == 1
      }
      guard isFirst else { return }
      held.signal()
      release.wait()
    }
    let fixture = try await signedIn(observer)
    await blocking { held.wait() }
    for _ in 0..<5 { _ = try await fixture.oauth.send(WebRequest(url: fixture.sandbox.url(.me))) }
    await observer.flush(within: .milliseconds(1))
    #expect(received.withLock(\.count) == 1)
    release.signal()
    await observer.flush(within: .seconds(Int64.max) * 18)
    // The observer got the first event, the four that waited, and the number of the lost events.
    let events = received.withLock(\.self)
    #expect(events.count == 6)
    guard case .lost(let count)? = events.last?.subject else {
      Issue.record("\(events.map(\.description))")
      return
    }
    #expect(count > 10)
    await fixture.sandbox.stop()
  }

  private func blocking(_ work: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        work()
        continuation.resume()
      }
    }
  }

  @Test(arguments: [false, true])
  func `events name the account only if the observer asks for it`(names: Bool) async throws {
    let recorder = EventRecorder()
    let observer = recorder.observer(namesAccounts: names)
    let fixture = try await signedIn(observer)
    _ = try await fixture.oauth.send(WebRequest(url: fixture.sandbox.url(.me)))
    await observer.flush()
    #expect(recorder.events.count > 10)
    for event in recorder.events { #expect(event.accountID == (names ? "default" : nil)) }
    await fixture.sandbox.stop()
  }

  @Test func `the observer's header fields are in each request and replace no existing field`()
    async throws
  {
    let recorder = EventRecorder()
    let observer = recorder.observer { event in
      [
        "traceparent": "00-\(event.operation ?? 0)", "Authorization": "Bearer foreign",
        "X-App": "observer",
      ]
    }
    let fixture = try await signedIn(observer)
    var request = WebRequest(url: fixture.sandbox.url(.me))
    request.headers["X-App"] = "app"
    #expect(try await fixture.oauth.send(request).status == 200)
    await observer.flush()
    let operations = recorder.events.compactMap { event -> String? in
      guard case .request = event.subject, event.phase == .begin else { return nil }
      return event.operation.map { "00-\($0)" }
    }
    let fromClient = fixture.sandbox.requests.filter { $0.header("traceparent") != nil }
    #expect(fromClient.first?.endpoint == .metadata && fromClient.last?.endpoint == .me)
    let sent = fromClient.compactMap { $0.header("traceparent") }
    #expect(sent.first == operations.first && sent.last == operations.last)
    // The request for the keys and the token request may overtake each other.
    #expect(sent.sorted() == operations.sorted())
    #expect(operations.count >= 4)
    let last = try #require(fixture.sandbox.requests(to: .me).last)
    #expect(last.header("X-App") == "app" && last.bearerToken?.hasPrefix("access-") == true)
    await fixture.sandbox.stop()
  }

  /// The test looks for the users' names, the codes and the tokens that went over the wire.
  @Test(arguments: [false, true])
  func `no event contains a secret, a user's name, or the path or query of a URL`(isBound: Bool)
    async throws
  {
    let recorder = EventRecorder()
    let observer = recorder.observer()
    var options = SandboxOptions()
    if isBound { options.dpop = SandboxDPoPOptions(.required) }
    let fixture = try await signedIn(observer, options) {
      if isBound { $0.tokenBinding = .dpop() }
    }
    let oauth = fixture.oauth
    let first = try #require(oauth.result.token)
    _ = try await oauth.module.userInfo()
    try await oauth.refresh()
    fixture.sandbox.misbehave(
      at: .token, .error("invalid_request", description: first.accessToken))
    _ = try? await oauth.refresh()
    var secret = WebRequest(
      url: fixture.sandbox.url(.me).appending(queryItems: [
        URLQueryItem(name: "key", value: "query-secret")
      ]))
    secret.headers["X-Key"] = "header-secret"
    _ = try await oauth.send(secret)
    let second = try #require(oauth.result.token)
    try await oauth.revoke()
    await observer.flush()
    var canaries = ["query-secret", "header-secret", "alice", "Alice", "/api/", "/token", "?"]
    for token in [first, second] {
      canaries += [token.accessToken, token.refreshToken, token.idToken?.compactForm]
        .compactMap(\.self)
    }
    canaries += fixture.sandbox.requests.flatMap { request in
      ["code", "state", "code_verifier", "nonce", "code_challenge"].compactMap {
        request.form($0) ?? request.query($0)
      }
    }
    let text = recorder.events.map { "\($0) " + String(reflecting: $0) }.joined(separator: "\n")
    #expect(recorder.events.count > 20 && canaries.count > 12)
    for canary in canaries { #expect(!text.contains(canary), "\(canary)") }
    await fixture.sandbox.stop()
  }

  @Test func `a refresh that the timer starts has no parent operation`() async throws {
    let recorder = EventRecorder()
    let observer = recorder.observer()
    let fixture = try await signedIn(observer)
    fixture.oauth.refreshesAutomatically = true
    fixture.clock.advance(by: 3590)
    try await eventually { recorder.refreshes.contains { $0.reason == .timer } }
    let refresh = try #require(
      recorder.events.first { if case .refresh = $0.subject { true } else { false } })
    #expect(refresh.parent == nil)
    await fixture.sandbox.stop()
  }
}
