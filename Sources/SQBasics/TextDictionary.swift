/// A dictionary whose keys are texts, which are different if they differ in a code point.
package struct TextDictionary<Value> {
  private var values: [ExactText: Value] = [:]

  /// Creates an empty dictionary.
  package init() {}

  /// The value of a text; `nil` if it has none.
  package subscript(text: String) -> Value? {
    get { values[ExactText(text)] }
    set { values[ExactText(text)] = newValue }
  }

  /// The value of a text, or a default value if it has none.
  package subscript(text: String, default value: @autoclosure () -> Value) -> Value {
    get { values[ExactText(text)] ?? value() }
    set { values[ExactText(text)] = newValue }
  }

  /// Removes the value of a text and returns it.
  package mutating func removeValue(forKey text: String) -> Value? {
    values.removeValue(forKey: ExactText(text))
  }

  /// The texts that have a value, in the order of their UTF-8 bytes.
  package var texts: [String] { values.keys.sorted().map(\.text) }

  /// The values, in any order.
  package var all: some Collection<Value> { values.values }

  package var count: Int { values.count }

  package var isEmpty: Bool { values.isEmpty }

  /// The texts with their values, in any order.
  package var pairs: some Sequence<(text: String, value: Value)> {
    values.lazy.map { (text: $0.key.text, value: $0.value) }
  }

  /// Keeps only the values for which a closure returns `true`.
  package mutating func keep(_ isWanted: (String, Value) -> Bool) {
    values = values.filter { isWanted($0.key.text, $0.value) }
  }
}

extension TextDictionary: Sendable where Value: Sendable {}
extension TextDictionary: Equatable where Value: Equatable {}
extension TextDictionary: Hashable where Value: Hashable {}
