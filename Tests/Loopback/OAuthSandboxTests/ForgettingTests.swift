import Foundation
import Testing

@testable import OAuthSandbox

/// What a sandbox removes from memory when it runs for weeks.
@Suite struct ForgettingTests {
  private let start = Date(timeIntervalSince1970: 1_900_000_000)

  @Test func `expired and used tokens do not accumulate over a month`() async {
    var ledger = TokenLedger()
    let grant = ledger.open(TokenLedger.Grant(clientID: "app", user: "alice", scopes: []))
    var largest = 0
    var previous: String?
    // The client refreshes once a minute for a month.
    for minute in 0..<43_200 {
      await pause(in: minute)
      let now = start.addingTimeInterval(Double(minute) * 60)
      if let previous { ledger.markUsed(refreshToken: previous, at: now) }
      previous = ledger.issueRefreshToken(grant: grant, keyThumbprint: nil)
      ledger.remember(
        accessToken: "A\(minute)", of: grant, scopes: [], keyThumbprint: nil,
        lifetime: .seconds(60), now: now
      )
      ledger.remember(idToken: "I\(minute)", of: grant)
      largest = max(largest, ledger.size)
    }
    #expect(largest < 10_000)
    #expect(ledger.activeRefreshToken(previous ?? "", at: start) != nil)
    #expect(ledger.latestRefreshToken == previous)
    #expect(ledger.grant(ofIDToken: "I43199") != nil && ledger.grant(ofIDToken: "I0") == nil)
  }

  @Test func `a token that is still valid is kept`() {
    var ledger = TokenLedger()
    let grant = ledger.open(TokenLedger.Grant(clientID: "app", user: "alice", scopes: []))
    let refreshToken = ledger.issueRefreshToken(grant: grant, keyThumbprint: nil)
    ledger.remember(
      accessToken: "endless", of: grant, scopes: [], keyThumbprint: nil, lifetime: nil, now: start)
    for day in 0..<3000 {
      let now = start.addingTimeInterval(Double(day) * 86_400)
      ledger.remember(
        accessToken: "A\(day)", of: grant, scopes: [], keyThumbprint: nil, lifetime: .seconds(60),
        now: now)
    }
    let end = start.addingTimeInterval(3000 * 86_400)
    #expect(ledger.activeAccessToken("endless", at: end) != nil)
    #expect(ledger.activeRefreshToken(refreshToken, at: end) != nil)
    #expect(ledger.size <= TokenLedger.leastSweep + 1)
  }

  @Test func `sessions of visitors without cookies are removed when too many begin`() async {
    var sessions = BrowserSessions()
    for round in 0...2 * BrowserSessions.mostSessions {
      await pause(in: round)
      _ = sessions.session(nil)
    }
    #expect(sessions.sessions.count <= BrowserSessions.mostSessions)
  }

  @Test func `the oldest pending sign-ins are removed when too many begin`() async throws {
    var sessions = BrowserSessions()
    let visitor = sessions.session(nil)
    var ids: [String] = []
    for round in 0...BrowserSessions.mostPending {
      await pause(in: round)
      ids.append(sessions.begin(try request(in: visitor)))
    }
    #expect(sessions.pending.count == BrowserSessions.mostPending)
    #expect(sessions.find(ids[0], cookie: visitor, at: start) == nil)
    #expect(sessions.find(ids[1], cookie: visitor, at: start) != nil)
    #expect(sessions.latest(visitor, at: start) == ids.last)
  }

  @Test func `the oldest signed-in users are removed when too many sign in`() async throws {
    var sessions = BrowserSessions()
    var users: [String] = []
    for round in 0...BrowserSessions.mostSessions {
      await pause(in: round)
      let id = sessions.begin(try request(in: sessions.session(nil)))
      let user = sessions.signIn("alice", request: id, at: start)
      sessions.end(id)
      users.append(try #require(user))
    }
    #expect(sessions.sessions.count <= BrowserSessions.mostSessions)
    #expect(sessions.sessions[users[0]] == nil)
    #expect(sessions.sessions[try #require(users.last)]?.user == "alice")
  }

  /// Lets other tests run before every hundredth round of a long loop.
  private func pause(in round: Int) async {
    if round.isMultiple(of: 100) { await Task.yield() }
  }

  private func request(in session: String) throws -> BrowserSessions.Pending {
    let sandbox = SandboxState(address: "http://127.0.0.1", options: SandboxOptions())
    return BrowserSessions.Pending(
      session: session, client: SandboxClient(id: "app"), scopes: [], challenge: nil,
      end: .device("code"), openID: try OpenIDRequest([], sandbox), mustSignIn: true,
      mustChooseAccount: false, begun: start)
  }
}
