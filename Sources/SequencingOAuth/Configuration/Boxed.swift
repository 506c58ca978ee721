/// A value on the heap, which copies share until one of them is changed.
///
/// What is large and copied often costs one reference then, and many accounts of one client keep
/// its configuration once.
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

  /// The value; to set it makes a copy of one's own.
  var value: Value {
    get { box.value }
    set { box = Box(newValue) }
  }

  /// Whether two share the value.
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
