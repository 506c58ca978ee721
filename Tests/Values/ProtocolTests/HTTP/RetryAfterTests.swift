import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// How `Retry-After` is read (RFC 9110, sections 5.6.7 and 10.2.3).
@Suite struct RetryAfterTests {
  /// The date of the RFC's own example: Sun, 06 Nov 1994 08:49:37 GMT.
  static let example = Date(timeIntervalSince1970: 784_111_777)

  @Test(
    arguments: [
      ("0", 0), ("7", 7), ("120", 120), ("0007", 7), ("86400", 86_400), ("86401", 86_400),
      ("99999999999999999999999999", 86_400),
    ] as [(String, Int)])
  func `a delay in seconds is read, up to a day`(text: String, seconds: Int) {
    #expect(RetryAfter.delay(in: ["Retry-After": text], now: Self.example) == .seconds(seconds))
  }

  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
  ])
  func `a date is read in any of its three forms`(text: String) {
    let early = Self.example.addingTimeInterval(-90)
    #expect(HTTPDate.parse(text, now: early) == Self.example)
    #expect(RetryAfter.delay(in: ["retry-after": text], now: early) == .seconds(90))
    // A past date means no delay, and a date that is far ahead means a day.
    let late = Self.example.addingTimeInterval(1)
    #expect(RetryAfter.delay(in: ["Retry-After": text], now: late) == .zero)
    let longBefore = Self.example.addingTimeInterval(-1_000_000)
    #expect(RetryAfter.delay(in: ["Retry-After": text], now: longBefore) == .seconds(86_400))
  }

  @Test func `the delay until a date is measured from the response's own Date`() {
    let headers: HeaderFields = [
      "Date": "Sun, 06 Nov 1994 08:49:37 GMT", "Retry-After": "Sun, 06 Nov 1994 08:50:07 GMT",
    ]
    let wrongClock = Self.example.addingTimeInterval(3_000_000)
    #expect(RetryAfter.delay(in: headers, now: wrongClock) == .seconds(30))
  }

  @Test(arguments: [
    "", " ", "-1", "+1", "1.5", "1e3", "soon", "7 seconds", "\u{661}", "7,8", "0x10",
    "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 24:00:00 GMT",
    "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 32 Nov 1994 08:49:37 GMT",
    "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 19945 08:49:37 GMT", "06 Nov 1994 08:49:37 GMT",
    "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 0000 08:49:37 GMT", ", , - - , GMT",
    "1994-11-06T08:49:37Z",
  ])
  func `a value that is neither a delay nor an HTTP date is ignored`(text: String) {
    #expect(RetryAfter.delay(in: ["Retry-After": text], now: Self.example) == nil)
    #expect(RetryAfter.delay(in: [:], now: Self.example) == nil)
  }

  /// Compares with Foundation's calendar, which the parser does not use.
  @Test func `the parser agrees with Foundation's calendar for dates across four centuries`() throws
  {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
    let names = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(separator: " ")
    for step in 0..<1_500 {
      let date = Date(timeIntervalSince1970: Double(step) * 86_400 * 97 - 86_400 * 365 * 20)
      let parts = calendar.dateComponents([.year, .month, .day], from: date)
      let (year, month, day) = (parts.year ?? 0, parts.month ?? 1, parts.day ?? 0)
      let text = "Xxx, \(day < 10 ? "0" : "")\(day) \(names[month - 1]) \(year) 00:00:00 GMT"
      #expect(HTTPDate.parse(text, now: Self.example) == date, "\(text)")
    }
  }

  @Test(arguments: [(1994, "94", 1994), (2030, "94", 1994), (2045, "94", 2094), (1999, "00", 2000)])
  func `a two-digit year is read as a year at most 50 years ahead`(
    now: Int, digits: String, year: Int
  ) {
    let now = Date(timeIntervalSince1970: Double(now - 1970) * 31_556_952 + 1_000_000)
    let short = HTTPDate.parse("Sunday, 06-Nov-\(digits) 08:49:37 GMT", now: now)
    #expect(short == HTTPDate.parse("Sun, 06 Nov \(year) 08:49:37 GMT", now: now))
  }

  @Test(arguments: [429, 500, 503, 400])
  func `an error has the delay that the server asks for, unless the rejection is final`(status: Int)
  {
    for body in ["busy", #"{"error":"temporarily_unavailable"}"#] {
      var response = Answer.http(body, status: status)
      response.head.headers["Retry-After"] = "30"
      let error = failure {
        try TokenResponse(
          parser: StandardTokenResponseParser(),
          context: .init(receivedAt: Answer.now, requestedScope: nil), request: Answer.request
        ).read(response)
      }
      // Status 400 without an error code is final, so its Retry-After is ignored.
      #expect(error?.retryAfter == (status == 400 && body == "busy" ? nil : .seconds(30)))
    }
  }
}
