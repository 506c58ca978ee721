#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `Retry-After`: how long a server asks to be left alone.
///
/// - SeeAlso: RFC 9110, section 10.2.3
enum RetryAfter {
  /// The longest wait that is believed: a server, or a date by a wrong clock, cannot stop a client
  /// for years.
  static let maximum = 86_400.0

  /// The wait, from seconds or from a date; `nil` where there is none or it cannot be read.
  ///
  /// A date counts from the response's own `Date`, where there is one, since the two clocks may
  /// differ. One that has passed means at once.
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
