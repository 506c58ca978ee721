import SQLibC

extension EventLoop {
  fileprivate static let instance = SharedInstance<EventLoop, EventLoopFailure>()

  /// The process's loop for all handlers that do little work, started on first use.
  ///
  /// It is `nil` if the system currently has no thread or descriptor for it; the next use tries
  /// again.
  package static var shared: EventLoop? {
    try? instance.get { () throws(EventLoopFailure) in
      let loop = try EventLoop()
      // A thread that is still inside OpenSSL while the process ends could crash.
      atexit(closeSharedEventLoop)
      return loop
    }
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
  EventLoop.instance.current?.close()
}
