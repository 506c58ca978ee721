import SQFoundation

/// Functions that format dates as text, in UTC and whole seconds.
enum Timestamp {
  private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Returns the date as `2016-05-18T09:30:00Z` (RFC 3339).
  static func internet(_ date: Date) -> String { wholeSeconds(date).formatted(.iso8601) }

  /// Returns the date in Sequencing.com's format, `2016-05-18 09:30:00`.
  static func plain(_ date: Date) -> String {
    internet(date).replacing("T", with: " ").replacing("Z", with: "")
  }

  /// Returns the date as `Wed, 18 May 2016 09:30:00 GMT` (RFC 9110, section 5.6.7).
  static func http(_ date: Date) -> String {
    let date = wholeSeconds(date)
    let parts = date.formatted(.iso8601).split { "-T:Z".contains($0) }
    guard parts.count == 6, let month = Int(parts[1]), months.indices.contains(month - 1) else {
      return ""
    }
    // 1 January 1970 was a Thursday.
    let days = Int((date.timeIntervalSince1970 / 86_400).rounded(.down))
    let weekday = weekdays[(days % 7 + 7) % 7]
    let time = parts[3...].joined(separator: ":")
    return "\(weekday), \(parts[2]) \(months[month - 1]) \(parts[0]) \(time) GMT"
  }

  private static func wholeSeconds(_ date: Date) -> Date {
    Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down))
  }
}
