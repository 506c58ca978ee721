// In this package two texts are equal if their code points are.
//
// Swift's own comparison takes Unicode's different forms of a text for one: the Kelvin sign U+212A
// for the letter K, and an e with an accent for an é. To the protocol these are two subjects, two
// scopes or two issuers. Swift prefers these operators and calls to its own ones, also in an
// equality that the compiler makes. A dictionary of texts is a ``TextDictionary``.
//
// - SeeAlso: RFC 7519, section 7.3; RFC 8259, section 8.3

extension String {
  /// Whether two texts have the same code points.
  package static func == (one: String, other: String) -> Bool {
    one.utf8.count == other.utf8.count && one.utf8.elementsEqual(other.utf8)
  }

  /// Whether two texts differ in a code point.
  package static func != (one: String, other: String) -> Bool { !(one == other) }

  /// Whether a text is a case of a `switch`.
  package static func ~= (pattern: String, text: String) -> Bool { pattern == text }
}

extension Optional<String> {
  /// Whether both texts are missing, or have the same code points.
  package static func == (one: String?, other: String?) -> Bool {
    switch (one, other) {
    case (let one?, let other?): one == other
    case (nil, nil): true
    default: false
    }
  }

  /// Whether one text alone is missing, or two texts differ in a code point.
  package static func != (one: String?, other: String?) -> Bool { !(one == other) }
}

extension Array<String> {
  /// Whether two lists have texts of the same code points, in the same order.
  package static func == (some: [String], others: [String]) -> Bool {
    some.elementsEqual(others) { $0 == $1 }
  }

  /// Whether two lists differ.
  package static func != (some: [String], others: [String]) -> Bool { !(some == others) }
}

extension Sequence<String> {
  /// Whether a text with the same code points is among these.
  package func contains(_ text: String) -> Bool { contains { $0 == text } }
}

extension Sequence<String?> {
  /// Whether a text with the same code points is among these, or `nil` if it is missing.
  package func contains(_ text: String?) -> Bool { contains { $0 == text } }
}

extension Set<String> {
  /// Whether a text with the same code points is in the set.
  package func contains(_ text: String) -> Bool {
    firstIndex(of: text).map { self[$0] == text } ?? false
  }
}
