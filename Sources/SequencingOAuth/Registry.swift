import SQBasics

/// A registry of values by unique names that the app chooses.
package final class Registry<Value: Sendable>: Sendable {
  /// The word for a value, with its article, for an error's message, such as `a pipe`.
  private let kind: String
  private let values = Locked(TextDictionary<Value>())

  package init(of kind: String) {
    self.kind = kind
  }

  /// Adds a value under a name, and returns it.
  ///
  /// - Throws: ``SQOAuthError/Code/duplicateName`` if the name already has a value; that value
  ///   stays.
  package func add(_ value: Value, named name: String) throws(SQOAuthError) -> Value {
    let isAdded = values.withLock { values in
      guard values[name] == nil else { return false }
      values[name] = value
      return true
    }
    guard isAdded else { throw .duplicateName(name, of: kind) }
    return value
  }

  /// The value with this name, or `nil`.
  package subscript(name: String) -> Value? { values.withLock { $0[name] } }

  /// Removes a value and returns it.
  package func remove(_ name: String) -> Value? { values.withLock { $0.removeValue(forKey: name) } }

  /// The names, sorted.
  package var names: [String] { values.withLock { $0.texts } }
}

extension SQOAuthError {
  fileprivate static func duplicateName(_ name: String, of kind: String) -> SQOAuthError {
    SQOAuthError(
      .duplicateName,
      "there is already \(kind) \"\(name.printable)\"; remove it, or choose another name")
  }
}
