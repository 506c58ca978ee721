import SQBasics
import SequencingOAuth

/// The value of `Content-Range`: the bytes in a response, or the length of the resource.
///
/// - SeeAlso: RFC 9110, section 14.4
enum ContentRange: Hashable {
  /// The bytes in the response: `bytes first-last/total`.
  case part(first: Int64, last: Int64, total: Int64)
  /// The length of the resource, in a response with status 416: `bytes */total`.
  case unsatisfied(total: Int64)

  /// Parses a field; fails for a unit other than bytes, an unknown total or a malformed value.
  init?(_ field: String?) {
    guard let words = field?.split(separator: " "), words.count == 2,
      words[0].asciiLowercased() == "bytes"
    else { return nil }
    let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
    guard halves.count == 2, let total = Self.number(halves[1]) else { return nil }
    if halves[0] == "*" {
      self = .unsatisfied(total: total)
      return
    }
    let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]),
      first <= last, last < total
    else { return nil }
    self = .part(first: first, last: last, total: total)
  }

  /// Parses a number that consists only of digits; returns `nil` if there is a sign or a space.
  static func number(_ text: some StringProtocol) -> Int64? {
    text.utf8.allSatisfy(\.isDigit) ? Int64(text) : nil
  }
}
