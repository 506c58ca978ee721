/// A value on the heap, shared by all copies until one of them is changed.
///
/// A large value that is copied often then costs one reference for each copy, and many accounts of
/// one client keep its configuration only once.
struct Boxed<Value: Sendable>: Sendable {
  private final class Box: Sendable {
    let value: Value

    init(_ value: Value) {
      self.value = value
    }
  }

  private var box: Box

  init(_ value: Value) {
    box = Box(value)
  }

  /// The shared value; setting it gives this copy a value of its own.
  var value: Value {
    get { box.value }
    set { box = Box(newValue) }
  }

  /// Whether this copy and another one share one value.
  func isShared(with other: Self) -> Bool { box === other.box }
}

extension Boxed: Equatable where Value: Equatable {
  static func == (one: Self, other: Self) -> Bool {
    one.isShared(with: other) || one.value == other.value
  }
}

extension Boxed: Hashable where Value: Hashable {
  func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }
}
