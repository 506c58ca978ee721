/// A value on the heap, shared by all copies until one of them is changed.
///
/// A large value that is copied often then costs one reference for each copy, and many accounts of
/// one client keep its configuration only once.
public struct Boxed<Value: Sendable>: Sendable {
  @usableFromInline final class Box: Sendable {
    @usableFromInline let value: Value

    @inlinable init(_ value: Value) {
      self.value = value
    }
  }

  @usableFromInline var box: Box

  /// Puts a value on the heap.
  @inlinable
  public init(_ value: Value) {
    box = Box(value)
  }

  /// The value, which can be set without a change of other copies.
  ///
  /// It is lent and not copied: to read one field of a large value by a getter would retain and
  /// release all of them.
  @inlinable
  public var value: Value {
    _read { yield box.value }
    set { box = Box(newValue) }
  }

  /// Whether two copies share the value.
  public func isShared(with other: Self) -> Bool { box === other.box }
}

extension Boxed: Equatable where Value: Equatable {
  /// Whether two values are equal.
  public static func == (one: Self, other: Self) -> Bool {
    one.isShared(with: other) || one.value == other.value
  }
}

extension Boxed: Hashable where Value: Hashable {
  /// Hashes the value.
  public func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }
}
