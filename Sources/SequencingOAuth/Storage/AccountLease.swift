import SQBasics

/// The exclusive right to change one account, in this process and all others.
///
/// A session holds the lease while it loads the account from the store, refreshes the token and
/// saves the new token. So all processes that share a store refresh each token only once.
public struct AccountLease: Sendable {
  private let end: @Sendable () -> Void
  private let isReleased = OneShot<Void>()

  /// Creates a lease from the closure that ends it; the closure is called once.
  public init(_ release: @escaping @Sendable () -> Void) {
    end = release
  }

  /// Ends the lease, so that another session can acquire it; a second call does nothing.
  public func release() {
    if isReleased.resolve(()) { end() }
  }
}
