import SQBasics
package import SQFoundation

/// A parser of dates in header fields, in all three forms that a recipient must accept.
///
/// The day of the week is not checked.
///
/// - SeeAlso: RFC 9110, section 5.6.7
package enum HTTPDate {
  /// Returns how many seconds `now` is later than a date in a field; `nil` without a valid date.
  static func lead(_ text: String?, at now: Date) -> Double? {
    text.flatMap { parse($0, now: now) }.map(now.timeIntervalSince)
  }

  /// Returns the date, or `nil` if the text is not a date; `now` sets the century of a two-digit
  /// year.
  package static func parse(_ text: String, now: Date) -> Date? {
    guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
    let parts = text.split { $0 == " " || $0 == "," || $0 == "-" }.map(String.init)
    switch parts.count {
    // Sun, 06 Nov 1994 08:49:37 GMT, and Sunday, 06-Nov-94 08:49:37 GMT
    case 6 where parts[5] == "GMT":
      return date(year: parts[3], month: parts[2], day: parts[1], time: parts[4], now: now)
    // Sun Nov  6 08:49:37 1994
    case 5:
      return date(year: parts[4], month: parts[1], day: parts[2], time: parts[3], now: now)
    default:
      return nil
    }
  }

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private static func date(
    year yearText: String, month monthText: String, day dayText: String, time: String, now: Date
  ) -> Date? {
    let clock = time.split(separator: ":", omittingEmptySubsequences: false)
      .map { number(String($0), digits: 2...2) ?? 99 }
    guard let month = months.firstIndex(of: monthText).map({ $0 + 1 }),
      let written = number(yearText, digits: 2...4), written > 0 || yearText == "00",
      let day = number(dayText, digits: 1...2), (1...31).contains(day),
      clock.count == 3, clock[0] < 24, clock[1] < 60, clock[2] <= 60
    else { return nil }
    let seconds = clock[0] * 3600 + clock[1] * 60 + clock[2]
    func moment(_ year: Int) -> Date {
      let days = daysSince1970(year: year, month: month, day: day)
      return Date(timeIntervalSince1970: Double(days * 86_400 + seconds))
    }
    guard yearText.utf8.count == 2 else { return moment(written) }
    // Of the years that end in these digits, only one is at most 50 years ahead and less than 50
    // years ago.
    let thisYear = 1970 + Int(now.timeIntervalSince1970 / 31_556_952)
    let year = thisYear - thisYear % 100 + written
    return moment(
      year > thisYear + 50 ? year - 100 : year <= thisYear - 50 ? year + 100 : year)
  }

  private static func number(_ text: String, digits: ClosedRange<Int>) -> Int? {
    guard digits.contains(text.utf8.count), text.utf8.allSatisfy(\.isDigit)
    else { return nil }
    return Int(text)
  }

  /// Returns the number of days since 1970 in the Gregorian calendar.
  ///
  /// The calculation begins each year in March, so that the leap day is the last one.
  private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
    let shifted = month > 2 ? year : year - 1
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
  }
}
