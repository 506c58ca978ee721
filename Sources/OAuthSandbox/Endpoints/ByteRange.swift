import SQBasics
import SQFoundation

/// The byte range of a `Range` field (RFC 9110, section 14).
struct ByteRange: Equatable {
  enum Outcome: Equatable {
    /// The whole content: the field is missing or malformed, or has an unknown unit or several
    /// ranges.
    case whole
    case part(Range<Int>)
    /// The field is valid, but no byte of its range lies within the content.
    case unsatisfiable
  }

  /// Reads `bytes=a-b`, `bytes=a-` or `bytes=-n` for a content of `count` bytes.
  ///
  /// Returns `whole` for a malformed field and for a field with several ranges (RFC 9110, sections
  /// 14.2 and 15.5.17).
  static func read(_ field: String, of count: Int) -> Outcome {
    let halves = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard halves.count == 2, halves[0].lowercased() == "bytes" else { return .whole }
    let ends = halves[1].trimmed.split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = position(ends[0]), let last = position(ends[1]) else {
      return .whole
    }
    switch (first, last) {
    case (nil, nil): return .whole
    case (nil, let suffix?):
      guard suffix > 0, count > 0 else { return .unsatisfiable }
      return .part(max(0, count - suffix)..<count)
    case (let first?, let last):
      if let last, last < first { return .whole }
      guard first < count else { return .unsatisfiable }
      return .part(first..<min(count, (last ?? count - 1).saturatingSuccessor))
    }
  }

  /// Reads a position: returns `.some(nil)` for an empty text and `nil` for a text that contains
  /// anything but digits.
  private static func position(_ digits: Substring) -> Int?? {
    guard !digits.isEmpty else { return .some(nil) }
    guard digits.utf8.allSatisfy(\.isDigit) else { return nil }
    // A number that is too large for `Int` lies after the end of any content.
    return .some(Int(digits) ?? Int.max)
  }
}

extension Int {
  fileprivate var saturatingSuccessor: Int { self == .max ? self : self + 1 }
}
