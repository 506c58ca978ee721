import SQBasics
import SQFoundation

/// A parser of `Retry-After`: the time that a server asks a client to wait before its next request.
///
/// - SeeAlso: RFC 9110, section 10.2.3
enum RetryAfter {
  /// The longest accepted wait, in seconds: one day.
  ///
  /// Without this maximum, a server or a date from a wrong clock could stop a client for years.
  static let maximum = 86_400.0

  /// Returns the time to wait, from a number of seconds or a date; `nil` if the field is missing or
  /// unreadable.
  ///
  /// A date is compared with the response's own `Date` if there is one, because the client's clock
  /// may differ from the server's. A date in the past means no wait.
  static func delay(in headers: HeaderFields, now: Date) -> Duration? {
    guard let text = headers["Retry-After"] else { return nil }
    if !text.isEmpty, text.utf8.allSatisfy(\.isDigit) {
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
