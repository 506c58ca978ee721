import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// The event that a sign-in ends soon.
@Suite(.timeLimit(.minutes(1))) struct GrantEndNoticeTests {
  private static let day = 86_400.0

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
  func `the notice is due endNotice before the sign-in ends, or a tenth of its lifetime if less`(
    fields: [String: JSONValue], notice: Duration, due: Double?
  ) {
    let now = Date()
    let state = state(fields, at: now)
    #expect(state.dueAt(renews: false, notice: notice)?.timeIntervalSince(now) == due)
  }

  @Test func `client credentials, and a token without a refresh token, cause no notice`() {
    let now = Date()
    let fields: [String: JSONValue] = ["refresh_expires_in": 1000]
    for state in [
      state(fields, grant: .clientCredentials(scope: nil), at: now),
      state(fields, refreshToken: nil, at: now),
    ] { #expect(state.dueAt(renews: false, notice: .seconds(1000)) == nil) }
  }

  @Test func `each end of a sign-in is announced once, and not after it has passed`() {
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
    // Rounding or a slow response may move the end of the sign-in by a second. This must cause no
    // second event.
    hold(["authorization_expires_in": 51], after: 950)
    #expect(tell(at: 1000) == nil)
    hold(["authorization_expires_in": 1000], after: 960)
    #expect(tell(at: 1859) == nil && tell(at: 1860) != nil)
    // The sign-in of another user causes its own event, even if it ends earlier.
    hold(["authorization_expires_in": 10], after: 1870, session: "other")
    #expect(tell(at: 1879.5) != nil)
    hold(["authorization_expires_in": 5000], after: 1880, session: "other")
    #expect(tell(at: 7000) == nil, "a program that slept past the end")
  }

  @Test func `a date that jumps past the end and back does not prevent the event`() {
    let (now, notice) = (Date(), Duration.seconds(86_400))
    let fields: [String: JSONValue] = ["authorization_expires_in": 1000]
    var state = state(fields, at: now)
    state.tellEnd(at: now + 5000, notice: notice)
    #expect(!state.hasEvents && state.dueAt(renews: false, notice: notice) == nil)
    // The date is right again, and the token is renewed.
    state.hold(
      AccountRecord(
        id: "a", clientID: "c", session: "s",
        token: SQToken(
          accessToken: "t2", refreshToken: "r", issueDate: now, additionalFields: fields)),
      at: now + 10)
    #expect(state.dueAt(renews: false, notice: notice) == now + 900)
    state.tellEnd(at: now + 900, notice: notice)
    #expect(state.nextEvent()?.word.hasPrefix("ends soon") == true)
  }

  @Test func `if each response repeats the same end, the lifetime from the first response is kept`()
  {
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

  @Test func `the timer announces the end of a sign-in once, even if the token needs no refresh`()
    async throws
  {
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

  @Test(arguments: [-33_000.0, -86_400])
  func `if the date was moved back, the end of the next token is announced at its own date`(
    seconds: Double
  ) async throws {
    let fixture = try await SessionFixture().updating()
    fixture.server.change { $0.more = #""authorization_expires_in":36000"# }
    fixture.clock.moveDate(by: seconds)
    fixture.clock.advance(by: 3204)
    #expect(await fixture.observer.words(1) == ["refreshed T2"])
    let end = Int(fixture.clock.now.timeIntervalSince1970) + 36_000
    await fixture.clock.hasSleeper()
    fixture.server.always(ScriptedTransport.json("", status: 500))
    fixture.clock.advance(by: 32_300)
    #expect(await fixture.observer.words(2) == ["refreshed T2", "failed server_error"])
    await fixture.clock.hasSleeper()
    fixture.clock.advance(by: 100)
    try await eventually { fixture.observer.words.contains("ends soon \(end)") }
  }

  @Test func `for an account that was restored from a store, observers and streams get the notice`()
    async throws
  {
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

  @Test func `a negative endNotice turns the event off, and a new configuration turns it on`()
    async throws
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
