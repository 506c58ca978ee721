/// The interest of a session in the changes that other processes make to one account.
///
/// A store returns it from ``TokenStore/observe(_:_:)``.
public struct AccountObservation: Sendable {
  private let stop: @Sendable () -> Void

  /// Makes an observation from the closure that ends it; the closure is called once.
  public init(_ stop: @escaping @Sendable () -> Void) {
    self.stop = stop
  }

  /// Ends the observation; a call that is under way may still arrive.
  public func end() {
    stop()
  }
}
