import Foundation
import Testing

@testable import SequencingOAuth
@testable import TestSupport

@Suite struct BackOffTests {
  static let start = Date(timeIntervalSince1970: 1_750_000_000)

  /// Returns the durations of consecutive back-offs, in seconds.
  func lengths(_ count: Int, retryAfter: Duration? = nil) -> [Double] {
    let error = SQOAuthError(.serverError, "x", retryAfter: retryAfter)
    var previous: BackOff?
    return (0..<count).map { _ in
      let next = BackOff(error, after: previous, at: Self.start)
      previous = next
      return next.until.timeIntervalSince(Self.start)
    }
  }

  @Test func `the back-off doubles from 1 s to 60 s and then stays at 60 s`() {
    #expect(lengths(9) == [1, 2, 4, 8, 16, 32, 60, 60, 60])
    #expect(lengths(200).last == 60, "no overflow")
  }

  @Test(
    "a longer delay that the server asks for counts, up to an hour",
    arguments: [
      (.zero, [1, 2, 4]), (.seconds(3), [3, 3, 4]), (.seconds(120), [120, 120, 120]),
      (.seconds(3600), [3600, 3600, 3600]), (.seconds(86_400), [3600, 3600, 3600]),
    ] as [(Duration, [Double])])
  func retryAfter(asked: Duration, lengths expected: [Double]) {
    #expect(lengths(3, retryAfter: asked) == expected)
  }

  @Test(
    "a back-off is in force from the failure to its end, and not before",
    arguments: [(0.0, true), (0.999, true), (1, false), (2, false), (-0.001, false), (-1e6, false)])
  func window(moment: Double, inForce: Bool) {
    let backOff = BackOff(SQOAuthError(.serverError, "x"), after: nil, at: Self.start)
    #expect(backOff.isInForce(at: Self.start + moment) == inForce)
  }

  @Test func `a back-off after a second failure has the error of the second failure`() {
    let first = BackOff(SQOAuthError(.serverError, "first"), after: nil, at: Self.start)
    let second = BackOff(
      SQOAuthError(.connectionFailed, "second"), after: first, at: Self.start + 5)
    #expect(second.error.code == .connectionFailed)
    #expect(second.since == Self.start + 5)
    #expect(second.until == Self.start + 7)
  }
}
