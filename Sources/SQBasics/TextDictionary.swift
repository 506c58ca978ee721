/// A dictionary with texts as keys, compared by their code points.
package struct TextDictionary<Value> {
  private var values: [ExactText: Value] = [:]

  /// Creates an empty dictionary.
  package init() {}

  /// The value for a key; `nil` if the dictionary has no value for it.
  package subscript(text: String) -> Value? {
    get { values[ExactText(text)] }
    set { values[ExactText(text)] = newValue }
  }

  /// The value for a key, or a default value if the dictionary has no value for it.
  package subscript(text: String, default value: @autoclosure () -> Value) -> Value {
    get { values[ExactText(text)] ?? value() }
    set { values[ExactText(text)] = newValue }
  }

  /// Removes the value for a key and returns it.
  package mutating func removeValue(forKey text: String) -> Value? {
    values.removeValue(forKey: ExactText(text))
  }

  /// The keys, in the order of their UTF-8 bytes.
  package var texts: [String] { values.keys.sorted().map(\.text) }

  /// The values, in any order.
  package var all: some Collection<Value> { values.values }

  package var count: Int { values.count }

  package var isEmpty: Bool { values.isEmpty }

  /// The keys with their values, in any order.
  package var pairs: some Sequence<(text: String, value: Value)> {
    values.lazy.map { (text: $0.key.text, value: $0.value) }
  }

  /// Removes the entries for which a closure returns `false`.
  package mutating func keep(_ isWanted: (String, Value) -> Bool) {
    values = values.filter { isWanted($0.key.text, $0.value) }
  }
}

extension TextDictionary: Sendable where Value: Sendable {}
extension TextDictionary: Equatable where Value: Equatable {}
extension TextDictionary: Hashable where Value: Hashable {}
