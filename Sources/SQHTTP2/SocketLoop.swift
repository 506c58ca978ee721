import CSQSockets
import Glibc
import SQBasics

/// An object that reads and writes its sockets when ``SocketLoop`` reports that they are ready.
package protocol SocketOwner: AnyObject, Sendable {
  /// Called on the loop's thread when a socket can be read or written, or has failed.
  func socketIsReady(_ socket: Int32)

  /// Called on the loop's thread at the time that was passed to ``SocketLoop/wake(_:at:)``.
  func timeIsDue()

  /// Called on the loop's thread after ``SocketLoop/callSoon(_:)``.
  func isCalled()
}

/// One thread that waits for sockets and times, and then calls their owners.
///
/// It keeps an owner alive while it watches one of the owner's sockets or waits for its time.
package final class SocketLoop: Sendable {
  /// The process's only loop, started on first use.
  ///
  /// It is `nil` if the system cannot create a thread or a descriptor for it.
  package static let shared = SocketLoop()

  private struct State {
    var owners: [Int32: any SocketOwner] = [:]
    /// The owners to call before the thread sleeps.
    var called: [any SocketOwner] = []
    var times: [ObjectIdentifier: (owner: any SocketOwner, time: UInt64)] = [:]
    /// A time that no entry of ``times`` is earlier than.
    var next = UInt64.max
    /// The time until which the thread sleeps; 0 while it is awake.
    var sleepsUntil: UInt64 = 0
  }

  private let poller: Int32
  private let bell: Int32
  private let state = Locked(State())
  /// Whether the process is exiting, so that no owner may be called; locked during each call.
  private let gate = Locked(false)

  private init?() {
    poller = epoll_create1(Int32(EPOLL_CLOEXEC))
    bell = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    // The event descriptor is edge-triggered: every write wakes the thread once, and nothing needs
    // to read it.
    var event = epoll_event(
      events: EPOLLIN.rawValue | EPOLLET.rawValue, data: epoll_data_t(fd: bell))
    guard poller >= 0, bell >= 0, epoll_ctl(poller, EPOLL_CTL_ADD, bell, &event) == 0,
      Threads.start({ [self] in run() })
    else {
      close(poller)
      close(bell)
      return nil
    }
    // A thread that is still inside OpenSSL while the process ends could crash.
    atexit(stopSocketLoop)
  }

  /// Returns the time on the monotonic clock, in nanoseconds.
  package static func now() -> UInt64 { sq_monotonic_nanoseconds() }

  // MARK: For owners, from any thread

  /// Starts to watch a socket for reading; returns `false` if the system cannot watch it.
  package func watch(_ socket: Int32, for owner: any SocketOwner) -> Bool {
    state.withLock { $0.owners[socket] = owner }
    var event = Self.event(socket, isWriting: false)
    if epoll_ctl(poller, EPOLL_CTL_ADD, socket, &event) == 0 { return true }
    state.withLock { $0.owners[socket] = nil }
    return false
  }

  /// Watches a socket for reading, and also for writing if `isWriting` is set.
  package func watch(_ socket: Int32, isWriting: Bool) {
    var event = Self.event(socket, isWriting: isWriting)
    epoll_ctl(poller, EPOLL_CTL_MOD, socket, &event)
  }

  /// Watches a socket only for its end, until ``watch(_:isWriting:)`` is called.
  package func rest(_ socket: Int32) {
    var event = epoll_event(events: 0, data: epoll_data_t(fd: socket))
    epoll_ctl(poller, EPOLL_CTL_MOD, socket, &event)
  }

  /// Stops watching a socket; call it before closing the socket.
  package func forget(_ socket: Int32) {
    epoll_ctl(poller, EPOLL_CTL_DEL, socket, nil)
    state.withLock { $0.owners[socket] = nil }
  }

  /// Calls ``SocketOwner/timeIsDue()`` at a time on the clock of ``now()``, or a little later.
  ///
  /// Each owner has one time: a second call replaces the first, and `.max` removes it.
  package func wake(_ owner: any SocketOwner, at time: UInt64) {
    let mustRing = state.withLock { state in
      state.times[ObjectIdentifier(owner)] = time == .max ? nil : (owner, time)
      state.next = min(state.next, time)
      guard time < state.sleepsUntil else { return false }
      state.sleepsUntil = 0
      return true
    }
    if mustRing { eventfd_write(bell, 1) }
  }

  /// Calls ``SocketOwner/isCalled()`` as soon as the thread has nothing else to do.
  ///
  /// An owner must not ask again before it is called. Other threads get a turn first, so that on
  /// few cores their requests can be handled together.
  package func callSoon(_ owner: any SocketOwner) {
    let mustRing = state.withLock { state in
      state.called.append(owner)
      defer { state.sleepsUntil = 0 }
      return state.sleepsUntil > 0
    }
    if mustRing { eventfd_write(bell, 1) }
  }

  private static func event(_ socket: Int32, isWriting: Bool) -> epoll_event {
    epoll_event(
      events: EPOLLIN.rawValue | (isWriting ? EPOLLOUT.rawValue : 0),
      data: epoll_data_t(fd: socket))
  }

  // MARK: On the thread

  private func run() -> Never {
    var events = [epoll_event](repeating: epoll_event(), count: 64)
    while true {
      let timeout = sleepTime()
      let count = epoll_wait(poller, &events, Int32(events.count), timeout)
      let ready = events.prefix(Int(max(count, 0))).map(\.data.fd)
      let (owners, due) = state.withLock { state in
        state.sleepsUntil = 0
        return (ready.map { state.owners[$0] }, Self.takeDue(&state))
      }
      gate.withLock { isClosed in
        if isClosed { return }
        for (socket, owner) in zip(ready, owners) { owner?.socketIsReady(socket) }
        for owner in due { owner.timeIsDue() }
      }
      call()
    }
  }

  private func call() {
    guard !state.withLock(\.called.isEmpty) else { return }
    sched_yield()
    let called = state.withLock { state in
      defer { state.called = [] }
      return state.called
    }
    gate.withLock { isClosed in
      if isClosed { return }
      for owner in called { owner.isCalled() }
    }
  }

  /// Returns how long the thread may sleep, in milliseconds, rounded up; -1 means without end.
  private func sleepTime() -> Int32 {
    state.withLock { state in
      if !state.called.isEmpty { return 0 }
      state.sleepsUntil = state.next
      guard state.next != .max else { return -1 }
      let now = Self.now()
      return state.next <= now ? 0 : Int32(clamping: (state.next - now + 999_999) / 1_000_000)
    }
  }

  private static func takeDue(_ state: inout State) -> [any SocketOwner] {
    let now = now()
    guard state.next <= now else { return [] }
    let due = state.times.filter { $0.value.time <= now }
    for id in due.keys { state.times[id] = nil }
    state.next = state.times.values.map(\.time).min() ?? .max
    return due.values.map(\.owner)
  }

  fileprivate func stop() {
    gate.withLock { $0 = true }
  }
}

private func stopSocketLoop() {
  SocketLoop.shared?.stop()
}
