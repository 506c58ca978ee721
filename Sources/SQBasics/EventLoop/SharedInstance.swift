/// An object that is created on first use, and that all later uses share.
///
/// If it cannot be created, the next use tries again.
package final class SharedInstance<Value: Sendable, Failure: Error>: Sendable {
  private let value = Locked<Value?>(nil)

  package init() {}

  /// Returns the object; creates it if there is none.
  package func get(_ make: () throws(Failure) -> Value) throws(Failure) -> Value {
    try value.withLock { (value) throws(Failure) in
      if let value { return value }
      let new = try make()
      value = new
      return new
    }
  }

  /// The object, or `nil` if it was not created yet.
  package var current: Value? { value.withLock(\.self) }
}
