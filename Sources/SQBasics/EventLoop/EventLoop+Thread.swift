import CSQSockets
import SQLibC

/// The identity of a loop's thread.
struct LoopThread: @unchecked Sendable {
  private let thread = pthread_self()

  var isCurrent: Bool { pthread_equal(thread, pthread_self()) != 0 }
}

/// The loop's thread.
extension EventLoop {
  func run() {
    // Signals are for the app's own threads.
    sq_block_signals()
    thread.withLock { $0 = LoopThread() }
    var ready: [ReadySocket] = []
    while let deadline = sleepTime() {
      // While the process exits, the handlers are neither called nor released. After a failure,
      // they are already released.
      guard turn(until: deadline, &ready) else { return }
    }
    // Releasing the last handler may also release the loop, so it happens outside the lock.
    let last = state.withLock { state in
      defer { state = State(isEnding: true, hasFailed: state.hasFailed) }
      return state
    }
    withExtendedLifetime(last) {}
  }

  /// Returns the time until which the thread may sleep, or `nil` if it must end.
  private func sleepTime() -> UInt64? {
    state.withLock { state in
      if state.isEnding { return nil }
      if !state.called.isEmpty { return 0 }
      if state.timers.next < state.alarm || state.alarm <= Monotonic.now() {
        state.alarm = state.timers.next
      }
      state.sleepsUntil = state.alarm
      return state.alarm
    }
  }

  /// Waits, then calls the handlers; returns `false` if the process is exiting or the loop has
  /// failed.
  private func turn(until deadline: UInt64, _ ready: inout [ReadySocket]) -> Bool {
    ready.removeAll(keepingCapacity: true)
    guard var isWoken = poller.wait(until: deadline, &ready) else {
      fail()
      return false
    }
    guard handle(ready) else { return false }
    let now = Monotonic.now()
    if deadline <= now, deadline > 0 {
      // The process may have been suspended. Data that arrived in the meantime is handled before
      // the timers that are overdue.
      ready.removeAll(keepingCapacity: true)
      if poller.wait(until: 0, &ready) == true { isWoken = true }
      guard handle(ready) else { return false }
    }
    let (due, called) = state.withLock { [isWoken] state in
      var due: [any EventHandler] = []
      while let handler = state.timers.takeDue(at: now) { due.append(handler) }
      defer { state.called.removeAll() }
      return (due, isWoken ? state.wakeUps + state.called : state.called)
    }
    if due.isEmpty && called.isEmpty { return true }
    return gate.withLock { isClosed in
      if isClosed { return false }
      for handler in due { handler.timeIsDue() }
      for handler in called { handler.isCalled() }
      return true
    }
  }

  /// Passes ready sockets to their handlers; returns `false` if the process is exiting.
  private func handle(_ ready: [ReadySocket]) -> Bool {
    let handlers = state.withLock { state in
      state.sleepsUntil = 0
      return ready.map { state.handler(of: $0.socket) }
    }
    if ready.isEmpty { return true }
    return gate.withLock { isClosed in
      if isClosed { return false }
      var start = 0
      while start < ready.count {
        guard let handler = handlers[start] else {
          start += 1
          continue
        }
        let end = handlers[start...].firstIndex { $0 !== handler } ?? ready.count
        handler.socketsAreReady(ready[start..<end])
        start = end
      }
      return true
    }
  }
}

extension EventLoop.State {
  /// Returns a socket's handler, and removes the handler if the socket is watched once.
  fileprivate mutating func handler(of socket: Int32) -> (any EventHandler)? {
    guard let watched = sockets[socket] else { return nil }
    if watched.isOnce { sockets[socket]?.handler = nil }
    return watched.handler
  }
}
