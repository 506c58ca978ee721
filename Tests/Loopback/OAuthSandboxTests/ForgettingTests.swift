import Foundation
import Testing

@testable import OAuthSandbox

/// What a sandbox that runs for weeks forgets.
@Suite struct ForgettingTests {
  private let start = Date(timeIntervalSince1970: 1_900_000_000)

  @Test func `tokens that can do no more are forgotten a day later`() {
    var ledger = TokenLedger()
    let grant = ledger.open(TokenLedger.Grant(clientID: "app", user: "alice", scopes: []))
    var largest = 0
    var previous: String?
    // A refresh each minute, for a month.
    for minute in 0..<43_200 {
      let now = start.addingTimeInterval(Double(minute) * 60)
      if let previous { ledger.markUsed(refreshToken: previous, at: now) }
      previous = ledger.issueRefreshToken(grant: grant)
      ledger.remember(
        accessToken: "A\(minute)", of: grant, scopes: [], lifetime: .seconds(60), now: now)
      ledger.remember(idToken: "I\(minute)", of: grant)
      largest = max(largest, ledger.size)
    }
    #expect(largest < 10_000)
    #expect(ledger.activeRefreshToken(previous ?? "") != nil)
    #expect(ledger.latestRefreshToken == previous)
    #expect(ledger.grant(ofIDToken: "I43199") != nil && ledger.grant(ofIDToken: "I0") == nil)
  }

  @Test func `a token that still counts is not forgotten`() {
    var ledger = TokenLedger()
    let grant = ledger.open(TokenLedger.Grant(clientID: "app", user: "alice", scopes: []))
    let refreshToken = ledger.issueRefreshToken(grant: grant)
    ledger.remember(accessToken: "endless", of: grant, scopes: [], lifetime: nil, now: start)
    for day in 0..<3000 {
      let now = start.addingTimeInterval(Double(day) * 86_400)
      ledger.remember(
        accessToken: "A\(day)", of: grant, scopes: [], lifetime: .seconds(60), now: now)
    }
    let end = start.addingTimeInterval(3000 * 86_400)
    #expect(ledger.activeAccessToken("endless", at: end) != nil)
    #expect(ledger.activeRefreshToken(refreshToken) != nil)
    #expect(ledger.size <= TokenLedger.leastSweep + 1)
  }

  @Test func `visitors without cookies are forgotten`() {
    var sessions = BrowserSessions()
    for _ in 0..<5000 { _ = sessions.session(nil) }
    #expect(sessions.sessions.count <= BrowserSessions.mostSessions)
  }
}
