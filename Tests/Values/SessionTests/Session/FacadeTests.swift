import Dispatch
import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// Getting the token through the façade, with and without delegates.
@Suite("The token of SQOAuth", .timeLimit(.minutes(1))) struct FacadeTests {
  @Test(arguments: [true, false])
  func `a valid token is returned, an expired one is refreshed, and a missing one is an error`(
    hasDelegates: Bool
  ) async throws {
    let fixture = try await SessionFixture().restored()
    if !hasDelegates {
      fixture.oauth.tokenRefreshDelegate = nil
      fixture.oauth.authorizationDelegate = nil
    }
    let valid = await fixture.completion { $0.token($1) }
    #expect(try valid.get().accessToken == "T1" && fixture.requests.isEmpty)
    fixture.clock.advance(by: 3600)
    let refreshed = await fixture.completion { $0.token($1) }
    #expect(try refreshed.get().accessToken == "T2")
    #expect(try await fixture.oauth.token().accessToken == "T2")
    #expect(fixture.oauth.result.token?.accessToken == "T2")
    try await fixture.oauth.signOut()
    let none = await fixture.completion { $0.token($1) }
    failure(.notAuthorized) { try none.get() }
    #expect(fixture.refreshes == ["R1"])
  }

  @Test func `the store is read if there is no token in memory`() async throws {
    let fixture = try SessionFixture()
    await fixture.store.memory.save(fixture.record(fixture.server.issue(at: fixture.clock.now)))
    #expect(!fixture.module.hasAccessToken && fixture.oauth.result.token == nil)
    #expect(try await fixture.oauth.token().accessToken == "T1")
    #expect(fixture.requests.isEmpty && fixture.module.hasAccessToken)
    #expect(try await fixture.module.restore())
    try await fixture.oauth.signOut()
    #expect(try await !fixture.module.restore())
  }

  /// The token's client is unknown, so the token is returned but not sent.
  @Test func `without a registered client, a stored token is returned but not refreshed`()
    async throws
  {
    let parts = LifetimeTests.Parts()
    await parts.save()
    let oauth = SQOAuth(environment: parts.environment)
    #expect(try await oauth.token().accessToken == "T1")
    parts.clock.advance(by: 3600)
    await failure(.notRegistered) { try await oauth.token() }
    await failure(.notRegistered) { try await oauth.module.revoke() }
    #expect(parts.http.requests.isEmpty && oauth.result.token?.accessToken == "T1")
    #expect(await parts.store.content() == "T1 R1")
  }

  @Test func `completion handlers are called on the callback queue`() async throws {
    let fixture = try await SessionFixture().restored()
    let queue = DispatchQueue(label: "the app's")
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    fixture.oauth.callbackQueue = queue
    let isThere: Bool = await fixture.completion { oauth, done in
      oauth.token { _ in done(DispatchQueue.getSpecific(key: key) == true) }
    }
    #expect(isThere)
    let saved = try #require(fixture.module.currentToken)
    let isThereToo: Bool = await fixture.completion { oauth, done in
      oauth.withRefreshToken(saved) { _ in done(DispatchQueue.getSpecific(key: key) == true) }
    }
    #expect(isThereToo)
  }

  @Test func `a completion handler may ask for tokens, refresh and sign out`() async throws {
    let fixture = try await SessionFixture().restored()
    let saved = try #require(fixture.module.currentToken)
    let words: String = await fixture.completion { oauth, done in
      oauth.token { first in
        oauth.refresh(with: saved) { second in
          oauth.launchTokenTimerUpdate(with: saved)
          oauth.token { third in
            oauth.userDidSignOut()
            oauth.token { fourth in
              let tokens = [first, second, third, fourth].map { result in
                (try? result.get())?.accessToken ?? "-"
              }
              done(tokens.joined(separator: " "))
            }
          }
        }
      }
    }
    #expect(words == "T1 T2 T2 -")
  }

  @Test func `a delegate may ask for tokens, set the timer and sign out`() async throws {
    final class Restless: TokenRefreshDelegate {
      let oauth: SQOAuth
      let done = Gate()
      let tokens = Locked<[String]>([])
      init(_ oauth: SQOAuth) { self.oauth = oauth }
      func tokenIsRefreshed(_ token: SQToken) {
        oauth.launchTokenTimerUpdate(with: token)
        oauth.token { result in
          self.tokens.withLock { $0.append((try? result.get())?.accessToken ?? "-") }
          self.oauth.userDidSignOut()
        }
      }
      func sessionDidEnd(_ reason: SessionEnd) {
        oauth.token { _ in self.done.open() }
      }
    }
    let fixture = try await SessionFixture().restored()
    let delegate = Restless(fixture.oauth)
    delegate.done.close()
    fixture.oauth.tokenRefreshDelegate = delegate
    try await fixture.module.refresh()
    await delegate.done.pass()
    #expect(delegate.tokens.withLock(\.self) == ["T2"] && fixture.memory == nil)
  }

  @Test func `a delegate that implements only tokenIsRefreshed is notified of a refresh`()
    async throws
  {
    final class Small: TokenRefreshDelegate, Sendable {
      let told = Locked(0)
      func tokenIsRefreshed(_ token: SQToken) { told.withLock { $0 += 1 } }
    }
    let fixture = try await SessionFixture().restored()
    let delegate = Small()
    fixture.oauth.tokenRefreshDelegate = delegate
    fixture.server.next(ScriptedTransport.json("", status: 500))
    await failure { try await fixture.module.refresh() }
    fixture.clock.advance(by: 1)
    try await fixture.module.refresh()
    try await eventually { delegate.told.withLock(\.self) == 1 }
    try await fixture.oauth.signOut()
  }

  @Test func `every completion handler is called exactly once`() async throws {
    let fixture = try await SessionFixture(lifetime: 10).restored()
    let counts = Locked([Int](repeating: 0, count: 200))
    let saved = try #require(fixture.module.currentToken)
    for index in 0..<200 {
      if index % 2 == 0 {
        fixture.oauth.token { _ in counts.withLock { $0[index] += 1 } }
      } else {
        fixture.oauth.withRefreshToken(saved) { _ in counts.withLock { $0[index] += 1 } }
      }
      if index % 7 == 0 { fixture.clock.advance(by: 9) }
      if index % 31 == 0 { fixture.oauth.userDidSignOut() }
    }
    try await eventually { counts.withLock { !$0.contains(0) } }
    #expect(counts.withLock { $0.allSatisfy { $0 == 1 } })
  }

  @Test
  func `while tokens change, each access token in the shared result has its own refresh token`()
    async throws
  {
    let fixture = try await SessionFixture(lifetime: 10).restored()
    let (module, result) = (fixture.module, fixture.oauth.result)
    let seen = Locked<Set<String>>([])
    let reader = Task.detached {
      while !Task.isCancelled {
        if let token = result.token {
          // A token's parts belong together: T7 never comes with R6.
          #expect(token.accessToken.dropFirst() == token.refreshToken?.dropFirst())
          seen.withLock { _ = $0.insert(token.accessToken) }
        }
        await Task.yield()
      }
    }
    try await eventually {
      _ = try? await module.refresh()
      return seen.withLock(\.count) > 20
    }
    reader.cancel()
    await reader.value
    #expect(fixture.memory == "T\(fixture.server.issued) R\(fixture.server.issued)")
  }
}
