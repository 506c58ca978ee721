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
    /// Most timers are removed before they are due. The thread still wakes at such a timer's time,
    /// so setting the next timer, which is due later, need not wake it.
    var alarm = Monotonic.never
    var isEnding = false
  }

  let poller: any SocketPoller
  let state = Locked(State())
  /// Whether the process is exiting, so that no handler may be called; locked during each call.
  let gate = Locked(false)
  let thread = Locked<LoopThread?>(nil)

  /// Starts the thread, which runs until ``end()``.
  package convenience init() throws(EventLoopFailure) {
    try self.init(try SocketPollers.make())
  }

  init(_ poller: any SocketPoller) throws(EventLoopFailure) {
    self.poller = poller
    guard Threads.start({ [self] in run() }) else { throw EventLoopFailure.noThread }
  }

  // MARK: For handlers, from any thread

  /// Watches a socket for events; returns `false` if the system cannot watch it.
  ///
  /// A further call changes the events or the handler.
  package func watch(
    _ socket: Int32, for events: SocketEvents, by handler: any EventHandler
  ) -> Bool {
    let isKnown = state.withLock { state in
      let watched = Watched(handler: handler, isOnce: events.contains(.once))
      return state.sockets.updateValue(watched, forKey: socket) != nil
    }
    if poller.set(socket, events, isKnown: isKnown) { return true }
    state.withLock { $0.sockets[socket] = nil }
    return false
  }

  /// Changes the events for which a socket is watched; with an empty set, only its end is reported.
  package func change(_ socket: Int32, to events: SocketEvents) {
    _ = poller.set(socket, events, isKnown: true)
  }

  /// Stops watching a socket; call it before closing the socket.
  package func forget(_ socket: Int32) {
    poller.remove(socket)
    state.withLock { $0.sockets[socket] = nil }
  }

  /// Calls ``EventHandler/timeIsDue()`` at a time of ``Monotonic``, or a little later.
  ///
  /// Each handler has one time: a further call replaces it, and ``Monotonic/never`` removes it.
  package func call(_ handler: any EventHandler, at time: UInt64) {
    wake { state in
      state.timers.set(handler, id: ObjectIdentifier(handler), at: time)
      return time < state.sleepsUntil
    }
  }

  /// Calls ``EventHandler/isCalled()`` as soon as the thread has handled what is ready.
  ///
  /// Do not call this method again for a handler before ``EventHandler/isCalled()`` is called.
  package func callSoon(_ handler: any EventHandler) {
    wake { state in
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
  package static func wakeUp(_ descriptor: Int32) { SocketPollers.wakeUp(descriptor) }

  /// Ends the thread soon; it may still call handlers that are already due, but no others.
  package func end() {
    wake { state in
      state.isEnding = true
      return state.sleepsUntil > 0
    }
  }

  /// Changes the state, and wakes the thread if the closure returns `true`.
  private func wake(_ change: (inout State) -> Bool) {
    let mustWake = state.withLock { state in
      guard change(&state) else { return false }
      state.sleepsUntil = 0
      return true
    }
    if mustWake { SocketPollers.wakeUp(poller.wakeUpDescriptor) }
  }
}
