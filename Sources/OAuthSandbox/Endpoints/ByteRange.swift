import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The one range of a `Range` field that is served (RFC 9110, section 14).
struct ByteRange: Equatable {
  enum Outcome: Equatable {
    /// The whole: there is no range, or none that this server understands or is ready to serve.
    case whole
    case part(Range<Int>)
    /// The field is in order and nothing of it lies within the content.
    case unsatisfiable
  }

  /// Reads `bytes=a-b`, `bytes=a-` and `bytes=-n` against so many bytes.
  ///
  /// What is malformed is ignored, and so are several ranges (sections 14.2 and 15.5.17).
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

  /// A position, or none where there are no digits; `nil` for anything else.
  private static func position(_ digits: Substring) -> Int?? {
    guard !digits.isEmpty else { return .some(nil) }
    guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    // More digits than a number holds lie behind every content.
    return .some(Int(digits) ?? Int.max)
  }
}

extension Int {
  fileprivate var saturatingSuccessor: Int { self == .max ? self : self + 1 }
}
