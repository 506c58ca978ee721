/// A value on the heap that its copies share until one of them changes (copy-on-write).
///
/// A copy of a large value then costs one reference. For example, many accounts of one client store
/// its configuration only once.
public struct Boxed<Value: Sendable>: Sendable {
  @usableFromInline final class Box: Sendable {
    @usableFromInline let value: Value

    @inlinable init(_ value: Value) {
      self.value = value
    }
  }

  @usableFromInline var box: Box

  /// Creates a box with a value on the heap.
  @inlinable
  public init(_ value: Value) {
    box = Box(value)
  }

  /// The stored value; setting it does not change other copies.
  ///
  /// Reading borrows the value instead of copying it. A plain getter would retain and release every
  /// field of a large value to read one of them.
  @inlinable
  public var value: Value {
    _read { yield box.value }
    set { box = Box(newValue) }
  }

  /// Returns whether this copy and another use the same storage.
  public func isShared(with other: Self) -> Bool { box === other.box }
}

extension Boxed: Equatable where Value: Equatable {
  /// Returns whether the stored values are equal.
  public static func == (one: Self, other: Self) -> Bool {
    one.isShared(with: other) || one.value == other.value
  }
}

extension Boxed: Hashable where Value: Hashable {
  /// Feeds the stored value into a hasher.
  public func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }
}
