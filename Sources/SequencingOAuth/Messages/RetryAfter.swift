#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads `Retry-After`: how long a server wants no further request.
///
/// - SeeAlso: RFC 9110, section 10.2.3
enum RetryAfter {
  /// The longest wait that counts, in seconds: one day.
  ///
  /// Otherwise a server, or a date by a wrong clock, could stop a client for years.
  static let maximum = 86_400.0

  /// The wait, from seconds or from a date; `nil` if the field is missing or unreadable.
  ///
  /// A date is compared with the response's own `Date` if there is one, since the two clocks may
  /// differ. A date in the past means no wait.
  static func delay(in headers: HTTPFields, now: Date) -> Duration? {
    guard let text = headers["Retry-After"] else { return nil }
    if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      return Double(text).map(bounded)
    }
    guard let date = HTTPDate.parse(text, now: now) else { return nil }
    let start = headers["Date"].flatMap { HTTPDate.parse($0, now: now) } ?? now
    return bounded(date.timeIntervalSince(start))
  }

  private static func bounded(_ seconds: Double) -> Duration {
    .seconds(min(max(seconds, 0), maximum).rounded(.up))
  }
}
