/// One thread that waits for sockets, times and calls, and then calls their handlers.
///
/// Handlers that do little work share the process's loop, ``shared``. A handler that keeps a core
/// busy has a loop of its own.
package final class EventLoop: Sendable {
  struct Watched {
    /// The socket's handler; `nil` after the event of a socket that is watched once.
    var handler: (any EventHandler)?
    var isOnce: Bool
  }

  struct State {
    var sockets: [Int32: Watched] = [:]
    var timers = TimerQueue<ObjectIdentifier, any EventHandler>()
    /// The handlers to call before the thread sleeps.
    var called: [any EventHandler] = []
    /// The handlers to call each time the thread is woken.
    var wakeUps: [any EventHandler] = []
    /// The time until which the thread sleeps; 0 while it is awake.
    var sleepsUntil: UInt64 = 0
    /// The time at which the thread wakes next, no later than the first timer.
    ///
    /// Most timers are removed before they are due. The thread still wakes at the time of a removed
    /// timer, so a new timer that is due later does not have to wake the thread.
    var alarm = Monotonic.never
    var isEnding = false
    /// Whether the loop has ended because the system could no longer wait; see ``fail()``.
    var hasFailed = false
  }

  let poller: any SocketPoller
  let state = Locked(State())
  /// Whether the process is exiting, so that no handler may be called.
  ///
  /// It is locked while a handler is called.
  let gate = Locked(false)
  let thread = Locked<LoopThread?>(nil)

  /// Starts the thread, which runs until ``end()``.
  package convenience init() throws(EventLoopFailure) {
    try self.init(try SocketPollers.make())
  }

  init(_ poller: any SocketPoller) throws(EventLoopFailure) {
    self.poller = poller
    ForkedCopy.watch()
    guard Threads.start({ [self] in run() }) else { throw EventLoopFailure.noThread }
  }

  // MARK: For handlers, from any thread

  /// Whether the loop has ended because the app has closed its descriptors; see ``closedAdvice``.
  package var hasFailed: Bool { state.withLock(\.hasFailed) }

  /// Watches a socket for events; returns `false` if the system cannot watch it.
  ///
  /// A further call changes the events or the handler.
  package func watch(
    _ socket: Int32, for events: SocketEvents, by handler: any EventHandler
  ) -> Bool {
    if ForkedCopy.isHere { return false }
    let isKnown = state.withLock { state -> Bool? in
      if state.hasFailed { return nil }
      let watched = Watched(handler: handler, isOnce: events.contains(.once))
      return state.sockets.updateValue(watched, forKey: socket) != nil
    }
    guard let isKnown else { return false }
    if poller.set(socket, events, isKnown: isKnown) { return true }
    state.withLock { $0.sockets[socket] = nil }
    return false
  }

  /// Changes the events for which a socket is watched; with an empty set, only its end is reported.
  package func change(_ socket: Int32, to events: SocketEvents) {
    if !ForkedCopy.isHere { _ = poller.set(socket, events, isKnown: true) }
  }

  /// Stops watching a socket; call it before closing the socket.
  package func forget(_ socket: Int32) {
    if !ForkedCopy.isHere { poller.remove(socket) }
    state.withLock { $0.sockets[socket] = nil }
  }

  /// Calls ``EventHandler/timeIsDue()`` at a time of ``Monotonic``, or a little later.
  ///
  /// Each handler has one time: a further call replaces it, and ``Monotonic/never`` removes it.
  package func call(_ handler: any EventHandler, at time: UInt64) {
    wake(for: time == Monotonic.never ? nil : handler) { state in
      state.timers.set(handler, id: ObjectIdentifier(handler), at: time)
      return time < state.sleepsUntil
    }
  }

  /// Calls ``EventHandler/isCalled()`` as soon as the thread has handled what is ready.
  ///
  /// Do not call this method again for a handler before ``EventHandler/isCalled()`` is called.
  package func callSoon(_ handler: any EventHandler) {
    wake(for: handler) { state in
      if !state.isEnding { state.called.append(handler) }
      return state.sleepsUntil > 0
    }
  }

  /// Makes the loop call ``EventHandler/isCalled()`` on its thread after each ``wakeUp(_:)``.
  ///
  /// Returns the descriptor for ``wakeUp(_:)``.
  package func callAfterWakeUps(_ handler: any EventHandler) -> Int32 {
    state.withLock { $0.wakeUps.append(handler) }
    return poller.wakeUpDescriptor
  }

  /// Wakes the thread of the loop with this wake-up descriptor; a signal handler may call it.
  ///
  /// Returns `false` if there is no such thread, in a ``ForkedCopy`` or because the app has closed
  /// the descriptor.
  @discardableResult
  package static func wakeUp(_ descriptor: Int32) -> Bool {
    !ForkedCopy.isHere && SocketPollers.wakeUp(descriptor)
  }

  /// Ends the thread soon; it may still call handlers that are already due, but no others.
  package func end() {
    wake(for: nil) { state in
      state.isEnding = true
      return state.sleepsUntil > 0
    }
  }

  /// Changes the state, and wakes the thread if the closure returns `true`.
  ///
  /// If the loop has failed, another thread calls ``EventHandler/loopHasFailed()`` instead.
  private func wake(for handler: (any EventHandler)?, _ change: (inout State) -> Bool) {
    // In a forked copy, writing to the shared descriptor would wake the parent's thread.
    if ForkedCopy.isHere { return }
    let (mustWake, hasFailed) = state.withLock { state -> (Bool, Bool) in
      if state.hasFailed { return (false, true) }
      guard change(&state) else { return (false, false) }
      state.sleepsUntil = 0
      return (true, false)
    }
    // The caller may hold a lock that the handlers take, so another thread calls them.
    if hasFailed, let handler {
      _ = Threads.start { [self] in tell([handler]) }
    } else if mustWake, !SocketPollers.wakeUp(poller.wakeUpDescriptor) {
      _ = Threads.start { [self] in fail() }
    }
  }

  // MARK: The end by a closed descriptor

  /// A text for error messages: why a loop has failed, and what to do.
  package static let closedAdvice =
    "the program has closed file descriptors of the SDK, for example with closefrom; close only "
    + "the program's own descriptors, and start the program again"

  /// Ends the loop, and tells its handlers, because the system no longer knows its descriptors.
  ///
  /// The loop is not started again, because the app has closed the handlers' sockets too. A handler
  /// that later closes its socket by the old number could then close a descriptor of a new poller.
  func fail() {
    let found = state.withLock { state -> (handlers: [any EventHandler], wasEnding: Bool)? in
      if state.hasFailed { return nil }
      let wasEnding = state.isEnding
      let handlers =
        state.sockets.values.compactMap(\.handler) + state.timers.values + state.called
        + state.wakeUps
      state = State(isEnding: true, hasFailed: true)
      return (handlers, wasEnding)
    }
    guard let found else { return }
    // The app may already use the numbers of the poller's descriptors again, so the poller must
    // never close them.
    _ = Unmanaged.passRetained(poller as AnyObject)
    // Releasing the last handler may also release the loop, so it happens outside the lock.
    withExtendedLifetime(found) { if !found.wasEnding { tell(found.handlers) } }
  }

  private func tell(_ handlers: [any EventHandler]) {
    gate.withLock { isClosed in
      if isClosed { return }
      var told: Set<ObjectIdentifier> = []
      for handler in handlers where told.insert(ObjectIdentifier(handler)).inserted {
        handler.loopHasFailed()
      }
    }
  }
}
