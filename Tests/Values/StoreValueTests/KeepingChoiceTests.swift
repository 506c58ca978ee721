import Foundation
import Testing

@testable import SequencingOAuth
@testable import SequencingOAuthBackend

/// How long a due account waits for its renewal.
struct KeepingChoiceTests {
  private let now = Date(timeIntervalSince1970: 1_800_000_000)

  private func record(
    issued seconds: Double?, _ fields: [String: JSONValue] = [:], usedAt: Date? = nil,
    lifetime: Double? = nil
  ) -> AccountRecord {
    let issueDate = seconds.map { now - $0 }
    let token = SQToken(
      accessToken: "a", expirationDate: lifetime.flatMap { issueDate?.addingTimeInterval($0) },
      refreshToken: "r", issueDate: issueDate, additionalFields: fields)
    return AccountRecord(id: "a", clientID: "c", token: token)
      .refreshed(token, attributes: [:], usedAt: usedAt)
  }

  @Test func `with the choice of all accounts, each account is renewed without a delay`() {
    #expect(KeepingChoice.all.delay(record(issued: nil), at: now) == .zero)
    #expect(KeepingChoice.all.delay(record(issued: 1e9), at: now) == .zero)
  }

  @Test func `with the choice of used accounts, only recently used accounts are renewed`() {
    let choice = KeepingChoice.used(within: .seconds(100))
    #expect(choice.delay(record(issued: 99), at: now) == .zero)
    #expect(choice.delay(record(issued: 101), at: now) == nil)
    #expect(choice.delay(record(issued: 1, usedAt: now - 101), at: now) == nil)
    #expect(choice.delay(record(issued: 1, usedAt: now - 99), at: now) == .zero)
    #expect(choice.delay(record(issued: nil), at: now) == .zero)
  }

  @Test
  func `with the lapsing choice, a refresh token is renewed after nine tenths of its lifetime`() {
    let choice = KeepingChoice.lapsing(after: .seconds(1000))
    #expect(choice.delay(record(issued: 0), at: now) == .seconds(900))
    #expect(choice.delay(record(issued: 300), at: now) == .seconds(600))
    #expect(choice.delay(record(issued: 901), at: now) == .zero)
    #expect(choice.delay(record(issued: nil), at: now) == .zero)
    // Clocks may differ by a minute, and the account must not be postponed for that.
    #expect(choice.delay(record(issued: 840), at: now) == .seconds(60))
    #expect(choice.delay(record(issued: 841), at: now) == .zero)
  }

  /// The queue says that the account is due, and the record's dates say that it is not.
  @Test func `with the lapsing choice, a record from a clock that is ahead is renewed at once`() {
    let choice = KeepingChoice.lapsing(after: .seconds(10_000))
    // The token is due 3168 s after its issue.
    #expect(choice.delay(record(issued: 3168, lifetime: 3600), at: now) == .seconds(5832))
    #expect(choice.delay(record(issued: 3109, lifetime: 3600), at: now) == .seconds(5891))
    #expect(choice.delay(record(issued: 3108, lifetime: 3600), at: now) == .zero)
    #expect(choice.delay(record(issued: -300), at: now) == .zero)
  }

  @Test func `the configured lifetime is limited to a hundred years`()
    throws
  {
    let choice = KeepingChoice.lapsing(after: .seconds(Int64.max))
    let delay = try #require(choice.delay(record(issued: 0), at: now))
    #expect(delay < .seconds(100 * 365 * 86_400))
  }

  @Test(arguments: [-1e300, .nan])
  func `an account whose issue date is impossible is renewed without a delay`(age: Double) {
    let choice = KeepingChoice.lapsing(after: .seconds(1000))
    #expect(choice.delay(record(issued: age), at: now) == .zero)
  }

  @Test
  func `the lifetime that the server states for a refresh token overrides the configured one`() {
    let choice = KeepingChoice.lapsing(after: .seconds(1000))
    for fields: [String: JSONValue] in [
      ["refresh_expires_in": .integer(100)], ["refresh_token_expires_in": .string("100")],
      ["refresh_token_expires_in": .number(100)], ["refresh_token_timeout": .integer(100)],
      ["x_refresh_token_expires_in": .integer(100)],
    ] {
      #expect(choice.delay(record(issued: 30, fields), at: now) == .seconds(60))
    }
    for fields: [String: JSONValue] in [
      ["refresh_expires_in": .integer(0)], ["refresh_token_expires_in": .string("soon")],
      ["refresh_expires_in": .bool(true)],
    ] {
      #expect(choice.delay(record(issued: 0, fields), at: now) == .seconds(900))
    }
  }
}
