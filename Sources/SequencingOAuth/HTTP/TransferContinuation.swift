#if TSAN
  /// What a request's caller waits with, in the form that ThreadSanitizer understands.
  ///
  /// It does not see how the runtime hands an unchecked one from thread to thread, and reports
  /// races that are none.
  typealias TransferContinuation = CheckedContinuation<Void, Never>

  func withTransferContinuation(_ body: (TransferContinuation) -> Void) async {
    await withCheckedContinuation(body)
  }
#else
  /// What a request's caller waits with; unchecked, since the check costs a part of a small request.
  typealias TransferContinuation = UnsafeContinuation<Void, Never>

  func withTransferContinuation(_ body: (TransferContinuation) -> Void) async {
    await withUnsafeContinuation(body)
  }
#endif
