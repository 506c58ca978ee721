import Synchronization

/// An object that is made only at its first use, because many of its owners never use it.
///
/// If two threads use it first at the same time, both make an object, and both get the same one.
package struct LazyObject<Object: AnyObject & Sendable>: ~Copyable, Sendable {
  private let reference = AtomicLazyReference<Object>()

  package init() {}

  /// Returns the object; makes it if there is none yet.
  package func get(orMake make: @autoclosure () -> Object) -> Object {
    reference.load() ?? reference.storeIfNil(make())
  }
}
