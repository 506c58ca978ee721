import SQBasics

/// A session's observation of the changes that other processes make to one account.
///
/// A store returns it from ``SharedTokenStore/observe(_:_:)``.
public struct AccountObservation: Sendable {
  private let stop: @Sendable () -> Void
  private let isOver = OneShot<Void>()

  /// Creates an observation from the closure that ends it; the closure is called once.
  public init(_ stop: @escaping @Sendable () -> Void) {
    self.stop = stop
  }

  /// Ends the observation; a notification that has already started may still arrive.
  ///
  /// A second call does nothing.
  public func end() {
    if isOver.resolve(()) { stop() }
  }
}
