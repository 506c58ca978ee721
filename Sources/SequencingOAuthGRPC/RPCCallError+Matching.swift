extension RPCCallError {
  /// Returns whether ``status`` is in a list: `error.is(.unauthenticated, .permissionDenied)`.
  public func `is`(_ statuses: RPCStatus...) -> Bool { statuses.contains(status) }
}

extension RPCStatus {
  /// Returns whether a call's error has this status, as in `catch RPCStatus.unavailable`.
  public static func ~= (status: Self, error: RPCCallError) -> Bool { error.status == status }

  /// Returns whether an error is an ``RPCCallError`` with this status.
  ///
  /// A `catch` needs this operator if its `do` contains calls that throw different types.
  public static func ~= (status: Self, error: any Error) -> Bool {
    (error as? RPCCallError)?.status == status
  }
}
