import SQLibC

extension EventLoop {
  fileprivate static let instance = SharedInstance<EventLoop, EventLoopFailure>()

  /// The process's loop for all handlers that do little work, started on first use.
  ///
  /// It is `nil` if the system currently has no thread or descriptor for it; the next use tries
  /// again. It stays `nil` in a ``ForkedCopy`` and after the app has closed the loop's descriptors.
  /// The reason is in ``absence``.
  package static var shared: EventLoop? {
    if ForkedCopy.isHere { return nil }
    let loop = try? instance.get { () throws(EventLoopFailure) in
      let loop = try EventLoop()
      // Close the loop at exit, because a thread that is still inside OpenSSL while the process
      // ends could crash.
      atexit(closeSharedEventLoop)
      return loop
    }
    return loop?.hasFailed == false ? loop : nil
  }

  /// A text for error messages: why there is no shared loop.
  package static var absence: String {
    if ForkedCopy.isHere { return ForkedCopy.advice }
    if instance.current?.hasFailed == true { return closedAdvice }
    return "the system has no thread or descriptor to wait for it"
  }

  /// Prevents all later calls of handlers, because the process is exiting; waits for the current
  /// call.
  package func close() {
    // If a handler calls `exit`, this is the loop's thread. It already holds the lock of `gate`, so
    // it must not wait for that lock.
    if thread.withLock({ $0?.isCurrent ?? false }) { return end() }
    gate.withLock { $0 = true }
  }
}

private func closeSharedEventLoop() {
  // In a forked copy, the locks may be held for ever by a thread that exists only in the parent.
  if !ForkedCopy.isHere { EventLoop.instance.current?.close() }
}
