/// A session's observation of the changes that other processes make to one account.
///
/// A store returns it from ``SharedTokenStore/observe(_:_:)``.
public struct AccountObservation: Sendable {
  private let stop: @Sendable () -> Void

  /// Creates an observation from the closure that ends it; the closure is called once.
  public init(_ stop: @escaping @Sendable () -> Void) {
    self.stop = stop
  }

  /// Ends the observation; a notification that has already started may still arrive.
  public func end() {
    stop()
  }
}
