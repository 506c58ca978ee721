import SQLibC

extension EventLoop {
  fileprivate static let instance = SharedInstance<EventLoop, EventLoopFailure>()

  /// The loop that all handlers share that do little, started on first use.
  ///
  /// It is `nil` if the system has no thread or descriptor for it now; the next use tries again.
  package static var shared: EventLoop? {
    try? instance.get { () throws(EventLoopFailure) in
      let loop = try EventLoop()
      // A thread that is still inside OpenSSL while the process ends could crash.
      atexit(closeSharedEventLoop)
      return loop
    }
  }

  /// Calls no handler from now on, because the process is exiting; waits for the current one.
  package func close() {
    // A handler that exits waits for no lock of its own thread.
    if thread.withLock({ $0?.isCurrent ?? false }) { return end() }
    gate.withLock { $0 = true }
  }
}

private func closeSharedEventLoop() {
  EventLoop.instance.current?.close()
}
