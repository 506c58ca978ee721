import SQLibC

// In this package, two texts are equal only if their code points are equal.
//
// Swift's own comparison treats Unicode's different forms of a text as equal: the Kelvin sign
// U+212A and the letter K, or an e with a combining accent and an é. To the protocol, these are two
// subjects, two scopes or two issuers. Swift prefers these operators and methods to its own, even
// in a synthesized `==`. For a dictionary with texts as keys, use `TextDictionary`.
//
// - SeeAlso: RFC 7519, section 7.3; RFC 8259, section 8.3

extension String {
  /// Returns whether two texts have the same code points.
  package static func == (one: String, other: String) -> Bool {
    var (one, other) = (one, other)
    let count = one.utf8.count
    guard count == other.utf8.count else { return false }
    return one.withUTF8 { one in
      other.withUTF8 { other in
        guard let one = one.baseAddress, let other = other.baseAddress else { return count == 0 }
        return memcmp(one, other, count) == 0
      }
    }
  }

  /// Returns whether two texts differ in a code point.
  package static func != (one: String, other: String) -> Bool { !(one == other) }

  /// Returns whether a text matches a case of a `switch`.
  package static func ~= (pattern: String, text: String) -> Bool { pattern == text }
}

extension Optional<String> {
  /// Returns whether both texts are missing, or have the same code points.
  package static func == (one: String?, other: String?) -> Bool {
    switch (one, other) {
    case (let one?, let other?): one == other
    case (nil, nil): true
    default: false
    }
  }

  /// Returns whether exactly one text is missing, or the two texts differ in a code point.
  package static func != (one: String?, other: String?) -> Bool { !(one == other) }
}

extension Array<String> {
  /// Returns whether two lists contain texts with the same code points, in the same order.
  package static func == (some: [String], others: [String]) -> Bool {
    some.elementsEqual(others) { $0 == $1 }
  }

  /// Returns whether two lists differ.
  package static func != (some: [String], others: [String]) -> Bool { !(some == others) }
}

extension Sequence<String> {
  /// Returns whether an element has the same code points as `text`.
  package func contains(_ text: String) -> Bool { contains { $0 == text } }
}

extension Sequence<String?> {
  /// Returns whether an element has the same code points as `text`; if `text` is `nil`, whether an
  /// element is `nil`.
  package func contains(_ text: String?) -> Bool { contains { $0 == text } }
}

extension Set<String> {
  /// Returns whether an element of the set has the same code points as `text`.
  package func contains(_ text: String) -> Bool {
    firstIndex(of: text).map { self[$0] == text } ?? false
  }
}
