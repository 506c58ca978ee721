/// The right to change one account, which nobody else has meanwhile, in this process or another.
///
/// It is held from the look into the store, over the refresh, to the save, so that any number of
/// processes on one store make one refresh between them.
public struct AccountLease: Sendable {
  private let end: @Sendable () -> Void

  /// A lease that is given back by a closure, which is called once.
  public init(_ release: @escaping @Sendable () -> Void) {
    end = release
  }

  /// Gives it back.
  public func release() {
    end()
  }
}
