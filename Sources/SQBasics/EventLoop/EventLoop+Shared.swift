import SQLibC

extension EventLoop {
  fileprivate static let instance = SharedInstance<EventLoop, EventLoopFailure>()

  /// The process's loop for all handlers that do little work, started on first use.
  ///
  /// It is `nil` if the system currently has no thread or descriptor for it; the next use tries
  /// again. It stays `nil` in a ``ForkedCopy``, and after the app has closed its descriptors. The
  /// reason is in ``absence``.
  package static var shared: EventLoop? {
    if ForkedCopy.isHere { return nil }
    let loop = try? instance.get { () throws(EventLoopFailure) in
      let loop = try EventLoop()
      // A thread that is still inside OpenSSL while the process ends could crash.
      atexit(closeSharedEventLoop)
      return loop
    }
    return loop?.hasFailed == false ? loop : nil
  }

  /// Why there is no shared loop, for the message of an error.
  package static var absence: String {
    if ForkedCopy.isHere { return ForkedCopy.advice }
    if instance.current?.hasFailed == true { return closedAdvice }
    return "the system has no thread or descriptor to wait for it"
  }

  /// Prevents all later calls of handlers, because the process is exiting; waits for the current
  /// call.
  package func close() {
    // If a handler calls `exit`, its thread holds the gate's lock already and must not wait for it.
    if thread.withLock({ $0?.isCurrent ?? false }) { return end() }
    gate.withLock { $0 = true }
  }
}

private func closeSharedEventLoop() {
  // In a copy, a thread that does not exist there may hold the locks.
  if !ForkedCopy.isHere { EventLoop.instance.current?.close() }
}
