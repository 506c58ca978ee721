import Foundation
import ProgramSupport
import SequencingOAuth
import TestSupport
import Testing

/// Rotating refresh tokens at an independent server, which ends a session when a refresh token is
/// used twice.
///
/// These tests wait in real time for tokens of 5 s to expire.
@Suite(.requires(.glewlwyd)) struct GlewlwydRotationTests {
  private static let life = 5.0

  @Test(.timeLimit(.minutes(15)))
  func `twenty refresh token rotations with 64 callers and a second program lose no token`()
    async throws
  {
    let folder = try TemporaryFolder()
    try await Glewlwyd.running(
      accessTTL: .seconds(Self.life), settings: ["ROTATE": "always"]
    ) { server in
      let demo = try await WatchingDemo(at: server)
      let crowd = try await Crowd(
        at: server, keptIn: FileTokenStore(path: folder.file("tokens")))
      let start = ContinuousClock.now
      try await crowd.rotate(times: 20)
      try await crowd.newestRefreshTokenWorks(at: server)

      // The count includes the token requests of the sign-in and of the last check. A token is used
      // for nine tenths of its lifetime.
      let elapsed = (ContinuousClock.now - start) / .seconds(1)
      #expect(crowd.requests.sent >= 22)
      #expect(Double(crowd.requests.sent) <= elapsed / (0.9 * Self.life) + 3)
      #expect(crowd.requests.mostAtOnce == 1)
      #expect(crowd.requests.statuses == [200: crowd.requests.sent])
      try await Self.check(crowd.events, refreshes: crowd.requests.sent - 1)

      try await demo.tells(20)
      try await demo.interrupt()
      #expect(!demo.errors.contains("warning"), "\(demo.errors)")
      try await demo.newestRefreshTokenWorks(at: server)
    }
  }

  /// Checks that there were as many refresh events as requests, and no other events.
  private static func check(
    _ events: AsyncStream<SessionEvent>, refreshes: Int
  ) async throws {
    var count = 0
    for await event in events {
      guard case .refreshed = event else {
        Issue.record("\(event)")
        return
      }
      count += 1
      if count == refreshes { return }
    }
    Issue.record("the events end after \(count) of \(refreshes) refreshes")
  }

  @Test(.timeLimit(.minutes(15)))
  func `a session survives a stop and restart of its server`() async throws {
    let folder = try TemporaryFolder()
    let database = try TemporaryFolder()
    let settings = ["ROTATE": "always", "KEEP": database.path]
    var server = try await Glewlwyd.start(accessTTL: .seconds(Self.life), settings: settings)
    let demo = try await WatchingDemo(at: server)
    let crowd = try await Crowd(at: server, keptIn: FileTokenStore(path: folder.file("tokens")))
    try await crowd.rotate(times: 2)

    // If the server's end cut off a refresh's answer, the session would be lost through no fault of
    // the client. So the server stops while neither program refreshes.
    try await demo.freezeBetweenRefreshes(ofTokensFor: Self.life)
    crowd.module.refreshesAutomatically = false
    let last = try await crowd.module.refresh()
    let told = demo.refreshes
    await server.stop()
    crowd.module.refreshesAutomatically = true
    demo.thaw()

    // The module still returns a token that cannot be refreshed, until the token expires.
    try await eventually("the token expires") { !crowd.module.isAuthorized }
    let errors = await crowd.ask().compactMap { result in
      if case .failure(let error) = result { error } else { nil }
    }
    #expect(errors.count == Crowd.size)
    #expect(errors.allSatisfy { $0.code == .connectionFailed && !$0.requiresSignIn })
    #expect(crowd.module.currentToken == last)
    try await eventually("the demo warns that the connection failed") {
      demo.errors.contains("\nwarning: connection_failed: ")
    }

    server = try await Glewlwyd.start(accessTTL: .seconds(Self.life), settings: settings)
    // The callers get tokens as soon as the delay after the failure is over.
    try await eventually("there are tokens again", within: .seconds(90)) {
      await crowd.ask().allSatisfy { (try? $0.get()) != nil }
    }
    try await crowd.rotate(times: 2)
    try await demo.tells(told + 3)
    try await demo.interrupt()
    try await crowd.newestRefreshTokenWorks(at: server)
    try await demo.newestRefreshTokenWorks(at: server)
    #expect(crowd.requests.mostAtOnce == 1)
    #expect(Array(crowd.requests.statuses.keys) == [200])
    await server.stop()
  }
}
