/// A text as the key of a dictionary or the element of a set, by its code points.
///
/// With `String` itself as the key, two users whose subjects differ only in their Unicode form would
/// be one.
package struct ExactText: Sendable, Hashable, Comparable {
  package let text: String

  package init(_ text: String) {
    self.text = text
  }

  package static func == (one: Self, other: Self) -> Bool { one.text == other.text }

  /// The order of the UTF-8 bytes.
  package static func < (one: Self, other: Self) -> Bool {
    one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    hasher.combine(0xFF as UInt8)
  }
}

extension Dictionary where Key == ExactText {
  /// The value of a text.
  package subscript(text: String) -> Value? {
    get { self[ExactText(text)] }
    set { self[ExactText(text)] = newValue }
  }

  /// The value of a text, or another one if the text has none.
  package subscript(text: String, default value: @autoclosure () -> Value) -> Value {
    get { self[ExactText(text)] ?? value() }
    set { self[ExactText(text)] = newValue }
  }

  /// Takes out the value of a text.
  package mutating func removeValue(forKey text: String) -> Value? {
    removeValue(forKey: ExactText(text))
  }

  /// The texts that have a value, in the order of their UTF-8 bytes.
  package var texts: [String] { keys.sorted().map(\.text) }
}

extension Set<ExactText> {
  /// Makes a set of texts.
  package init(of texts: some Sequence<String>) {
    self.init(texts.lazy.map(ExactText.init))
  }

  /// Whether a text is in the set.
  package func contains(_ text: String) -> Bool { contains(ExactText(text)) }
}
