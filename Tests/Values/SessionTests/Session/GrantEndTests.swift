import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// The ends of refresh tokens and of users' authorizations that servers name.
@Suite(.timeLimit(.minutes(1))) struct GrantEndTests {
  private static let day = 86_400.0

  /// Returns how many seconds after the clock's first date the two ends are: `60 -`.
  private func ends(_ token: SQToken?, _ start: Date) -> String {
    [token?.refreshTokenExpirationDate, token?.authorizationExpirationDate]
      .map { $0.map { "\(Int($0.timeIntervalSince(start)))" } ?? "-" }.joined(separator: " ")
  }

  // MARK: After a refresh

  /// The members of the sign-in's response, how the server names the next refresh token, the members
  /// of the refresh's response 100 s later, and the ends after it.
  private static let rows: [(String, String?, String, String)] = [
    // A new refresh token has the end that its response names, or none that is known.
    (#""refresh_token_timeout":900"#, nil, #""refresh_token_timeout":900"#, "1000 -"),
    (#""refresh_token_timeout":900"#, nil, "", "- -"),
    (#""refresh_expires_in":900"#, nil, #""refresh_expires_in":0"#, "- -"),
    // The same refresh token keeps its end, unless the response names another, or none.
    (#""refresh_expires_in":900"#, "", "", "900 -"),
    (#""refresh_expires_in":900"#, #""R1""#, "", "900 -"),
    (#""refresh_expires_in":900"#, "", #""refresh_expires_in":"600""#, "700 -"),
    (#""refresh_expires_in":900"#, "", #""refresh_expires_in":0"#, "- -"),
    (#""refresh_expires_in":900"#, "", #""refresh_expires_in":"soon""#, "900 -"),
    // The end of the authorization stays, whatever the refresh token.
    (#""authorization_expires_in":900"#, nil, "", "- 900"),
    (#""authorization_expires_in":900"#, "", "", "- 900"),
    (#""authorization_expires_in":900"#, nil, #""authorization_expires_in":2000"#, "- 2100"),
    (#""authorization_expires_in":900"#, nil, #""authorization_expires_in":0"#, "- -"),
    ("", nil, #""authorization_expires_in":50,"x_refresh_token_expires_in":40"#, "140 150"),
  ]

  @Test(arguments: rows)
  func `an end counts from the response that names it, and stays with what it belongs to`(
    first: String, refreshToken: String?, second: String, expected: String
  ) async throws {
    let fixture = try SessionFixture()
    let start = fixture.clock.now
    fixture.server.change { $0.more = first }
    try await fixture.oauth.signIn()
    fixture.clock.advance(by: 100)
    fixture.server.change { ($0.refreshToken, $0.more) = (refreshToken, second) }
    let token = try await fixture.module.refresh()
    #expect(ends(token, start) == expected)
    let kept = try #require(await fixture.store.memory.load("default"))
    let read = try JSONDecoder().decode(AccountRecord.self, from: kept.json())
    #expect(read == kept && ends(read.token, start) == expected, "also in the store")
  }

  @Test func `the first of several names counts`() {
    let now = Date()
    func end(_ fields: [String: JSONValue]) -> Double? {
      SQToken(accessToken: "a", refreshToken: "r", issueDate: now, additionalFields: fields)
        .refreshTokenExpirationDate?.timeIntervalSince(now)
    }
    #expect(end(["refresh_token_timeout": 5, "refresh_token_expires_in": 6]) == 5)
    #expect(end(["refresh_token_timeout": .null, "refresh_token_expires_in": 6]) == 6)
    #expect(end(["refresh_token_timeout": "x", "refresh_expires_in": 7]) == 7)
  }

  @Test func `a token that an older version stored has the end that its fields name`() throws {
    let json = #"""
      {"access_token":"a","token_type":"Bearer","refresh_token":"r","issue_date":1000,
       "additional_fields":{"refresh_expires_in":60}}
      """#
    let token = try JSONDecoder().decode(SQToken.self, from: Data(json.utf8))
    #expect(token.refreshTokenExpirationDate == Date(timeIntervalSinceReferenceDate: 1060))
  }

  @Test func `a token that waits for its ID token has the new ends`() {
    let now = Date()
    let old = SQToken(
      accessToken: "a", refreshToken: "r", issueDate: now,
      additionalFields: ["refresh_expires_in": 60])
    let new = SQToken(
      accessToken: "b", refreshToken: "s", issueDate: now + 50,
      additionalFields: ["refresh_expires_in": 70]
    ).refreshing(old)
    let record = AccountRecord(id: "a", clientID: "c", token: old)
      .refreshed(new, attributes: [:], isVerified: false)
    #expect(record.token.accessToken == "a" && record.token.refreshToken == "s")
    #expect(record.token.refreshTokenExpirationDate == now + 120)
    #expect(old.keeping(refreshToken: "s").refreshTokenExpirationDate == nil)
    #expect(old.keeping(refreshToken: "r").refreshTokenExpirationDate == now + 60)
  }

  // MARK: When the observers are told

  private func state(
    _ fields: [String: JSONValue], grant: AccountRecord.Grant? = nil, refreshToken: String? = "r",
    at now: Date
  ) -> SessionState {
    var state = SessionState()
    state.hold(
      AccountRecord(
        id: "a", clientID: "c", grant: grant, session: "s",
        token: SQToken(
          accessToken: "t", refreshToken: refreshToken, issueDate: now, additionalFields: fields)),
      at: now)
    return state
  }

  private static let notices: [([String: JSONValue], Duration, Double?)] = [
    (["authorization_expires_in": 864_000], .seconds(86_400), 9 * day),
    (["authorization_expires_in": 8_640_000], .seconds(86_400), 99 * day),
    (["authorization_expires_in": 1800], .seconds(86_400), 1620),
    (["refresh_expires_in": 1800], .seconds(60), 1740),
    (["refresh_expires_in": 1000, "authorization_expires_in": 500], .seconds(86_400), 450),
    (["refresh_expires_in": 500, "authorization_expires_in": 1000], .seconds(86_400), 450),
    (["refresh_expires_in": 0], .seconds(86_400), nil), ([:], .seconds(86_400), nil),
    (["authorization_expires_in": 864_000], .zero, nil),
  ]

  @Test(arguments: notices)
  func `the timer is due a day before the end, or a tenth of its time if that is less`(
    fields: [String: JSONValue], notice: Duration, due: Double?
  ) {
    let now = Date()
    let state = state(fields, at: now)
    #expect(state.dueAt(renews: false, notice: notice)?.timeIntervalSince(now) == due)
  }

  @Test func `a grant without a user, and a refresh token that is gone, have no end`() {
    let now = Date()
    let fields: [String: JSONValue] = ["refresh_expires_in": 1000]
    for state in [
      state(fields, grant: .clientCredentials(scope: nil), at: now),
      state(fields, refreshToken: nil, at: now),
    ] { #expect(state.dueAt(renews: false, notice: .seconds(1000)) == nil) }
  }

  @Test func `one end is told once, a later one again, and an end that is over not at all`() {
    let (now, notice) = (Date(), Duration.seconds(86_400))
    var state = state(["authorization_expires_in": 1000], at: now)
    func tell(at seconds: Double) -> String? {
      state.tellEnd(at: now + seconds, notice: notice)
      return state.nextEvent()?.word
    }
    func hold(_ fields: [String: JSONValue], after seconds: Double, session: String = "s") {
      state.hold(
        AccountRecord(
          id: "a", clientID: "c", session: session,
          token: SQToken(
            accessToken: "t\(seconds)", refreshToken: "r", issueDate: now + seconds,
            additionalFields: fields)), at: now + seconds)
    }
    #expect(tell(at: 899) == nil)
    #expect(tell(at: 900)?.hasPrefix("ends soon") == true)
    #expect(tell(at: 950) == nil && state.dueAt(renews: false, notice: notice) == nil)
    // A whole second more or less, by rounding or on the way.
    hold(["authorization_expires_in": 51], after: 950)
    #expect(tell(at: 1000) == nil)
    hold(["authorization_expires_in": 1000], after: 960)
    #expect(tell(at: 1859) == nil && tell(at: 1860) != nil)
    // Another user's sign-in has an end of its own, even if it is earlier.
    hold(["authorization_expires_in": 10], after: 1870, session: "other")
    #expect(tell(at: 1879.5) != nil)
    hold(["authorization_expires_in": 5000], after: 1880, session: "other")
    #expect(tell(at: 7000) == nil, "a program that slept past the end")
  }

  @Test func `an end that is named again and again is told as early as if named once`() {
    let now = Date()
    var token = SQToken(
      accessToken: "a", refreshToken: "r", issueDate: now,
      additionalFields: ["authorization_expires_in": 100_000])
    for hour in 1...27 {
      let passed = Double(hour) * 3600
      token = SQToken(
        accessToken: "a\(hour)", refreshToken: "r", issueDate: now + passed,
        additionalFields: ["authorization_expires_in": .integer(Int64(100_000 - passed))]
      ).refreshing(token)
    }
    #expect(token.ends.authorization == GrantEnd(date: now + 100_000, lifetime: 100_000))
  }

  // MARK: The whole session

  @Test func `the timer tells once, also if it does not refresh`() async throws {
    let fixture = try SessionFixture(lifetime: nil)
    fixture.server.change { $0.more = #""authorization_expires_in":864000"# }
    try await fixture.oauth.signIn()
    await fixture.clock.hasSleeper()
    let end = Int(fixture.clock.now.timeIntervalSince1970) + 864_000
    fixture.clock.advance(by: 9 * Self.day - 1)
    #expect(fixture.observer.events.isEmpty && fixture.clock.sleepers == 1)
    fixture.clock.advance(by: 1)
    #expect(await fixture.observer.words(1) == ["ends soon \(end)"])
    try await eventually { fixture.clock.sleepers == 0 }
    #expect(fixture.observer.words == ["ends soon \(end)"] && fixture.refreshes.isEmpty)
  }

  @Test func `an account from a store is told too, and its stream of events`() async throws {
    let fixture = try SessionFixture(change: { $0.endNotice = .seconds(3600) })
    let recorder = RefreshRecorder.listening(to: fixture.oauth.events())
    let now = fixture.clock.now
    await fixture.store.memory.save(
      fixture.record(
        SQToken(
          accessToken: "T", refreshToken: "R", issueDate: now - Self.day,
          authorizationExpirationDate: now + 1800)))
    try await fixture.module.restore()
    let expected = "ends soon \(Int(now.timeIntervalSince1970) + 1800)"
    #expect(await fixture.observer.words(1) == [expected])
    #expect(await recorder.words(1) == [expected])
  }

  @Test func `a notice of zero turns the event off, and a change of it takes effect`() async throws
  {
    let fixture = try SessionFixture(lifetime: nil, change: { $0.endNotice = .seconds(-5) })
    fixture.server.change { $0.more = #""authorization_expires_in":864000"# }
    try await fixture.oauth.signIn()
    #expect(fixture.clock.sleepers == 0 && fixture.module.session.dueAt == nil)
    var configuration = try fixture.configuration
    configuration.endNotice = .seconds(60)
    fixture.module.register(configuration)
    #expect(fixture.module.session.dueAt == fixture.clock.now + 864_000 - 60)
  }
}
