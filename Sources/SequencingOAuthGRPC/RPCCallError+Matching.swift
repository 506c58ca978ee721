extension RPCCallError {
  /// Returns whether ``status`` is in a list: `error.is(.unauthenticated, .permissionDenied)`.
  public func `is`(_ statuses: RPCStatus...) -> Bool { statuses.contains(status) }
}

extension RPCStatus {
  /// Matches an error of a call that ended with this status, as in `catch RPCStatus.unavailable`.
  public static func ~= (status: Self, error: RPCCallError) -> Bool { error.status == status }

  /// Matches any error that is an ``RPCCallError`` with this status.
  ///
  /// A `catch` needs this operator if its `do` contains calls that throw different types.
  public static func ~= (status: Self, error: any Error) -> Bool {
    (error as? RPCCallError)?.status == status
  }
}
