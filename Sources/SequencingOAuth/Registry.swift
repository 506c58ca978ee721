import SQBasics

/// Values that an app keeps under names of its own, each name used once.
package final class Registry<Value: Sendable>: Sendable {
  /// What the values are in an error's message: `a pipe`.
  private let kind: String
  private let values = Locked(TextDictionary<Value>())

  package init(of kind: String) {
    self.kind = kind
  }

  /// Keeps a value under a name, and returns it.
  ///
  /// - Throws: ``SQOAuthError/Code/duplicateName`` if the name has a value, which stays.
  package func add(_ value: Value, named name: String) throws(SQOAuthError) -> Value {
    let isAdded = values.withLock { values in
      guard values[name] == nil else { return false }
      values[name] = value
      return true
    }
    guard isAdded else { throw .duplicateName(name, of: kind) }
    return value
  }

  /// The value of a name, if there is one.
  package subscript(name: String) -> Value? { values.withLock { $0[name] } }

  /// Takes a value out and returns it.
  package func remove(_ name: String) -> Value? { values.withLock { $0.removeValue(forKey: name) } }

  /// The names, in order.
  package var names: [String] { values.withLock { $0.texts } }
}

extension SQOAuthError {
  package static func duplicateName(_ name: String, of kind: String) -> SQOAuthError {
    SQOAuthError(
      .duplicateName,
      "there is already \(kind) \"\(name.printable)\"; remove it, or choose another name")
  }
}
