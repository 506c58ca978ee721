import CSQSockets
import Glibc
import SQBasics

/// Something that reads and writes sockets when ``SocketLoop`` says that it can.
package protocol SocketOwner: AnyObject, Sendable {
  /// A socket can be read or written, or has failed; called on the loop's thread.
  func socketIsReady(_ socket: Int32)

  /// The time for which ``SocketLoop/wake(_:at:)`` asked has come; called on the loop's thread.
  func timeIsDue()

  /// What ``SocketLoop/callSoon(_:)`` asked for; called on the loop's thread.
  func isCalled()
}

/// One thread that waits for sockets and for times, and then calls their owners.
///
/// It keeps an owner alive while it watches a socket of it, or has a time for it.
package final class SocketLoop: Sendable {
  /// The loop of the process, which starts when it is first used; `nil` if the system has no thread
  /// or no descriptor for it.
  package static let shared = SocketLoop()

  private struct State {
    var owners: [Int32: any SocketOwner] = [:]
    /// The owners to call before the thread sleeps.
    var called: [any SocketOwner] = []
    var times: [ObjectIdentifier: (owner: any SocketOwner, time: UInt64)] = [:]
    /// No time is earlier than this one.
    var next = UInt64.max
    /// Until when the thread sleeps; 0 while it is awake.
    var sleepsUntil: UInt64 = 0
  }

  private let poller: Int32
  private let bell: Int32
  private let state = Locked(State())
  /// Whether the process ends, so that no owner is called; held while owners are called.
  private let gate = Locked(false)

  private init?() {
    poller = epoll_create1(Int32(EPOLL_CLOEXEC))
    bell = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    // The bell is edge-triggered, so nothing reads it: every write wakes the thread once.
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

  /// The monotonic clock, in nanoseconds.
  package static func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  // MARK: For owners, from any thread

  /// Watches a socket for reading; returns `false` if the system cannot.
  package func watch(_ socket: Int32, for owner: any SocketOwner) -> Bool {
    state.withLock { $0.owners[socket] = owner }
    var event = Self.event(socket, isWriting: false)
    if epoll_ctl(poller, EPOLL_CTL_ADD, socket, &event) == 0 { return true }
    state.withLock { $0.owners[socket] = nil }
    return false
  }

  /// Watches a socket for reading, and also for writing or no longer.
  package func watch(_ socket: Int32, isWriting: Bool) {
    var event = Self.event(socket, isWriting: isWriting)
    epoll_ctl(poller, EPOLL_CTL_MOD, socket, &event)
  }

  /// Watches a socket for nothing but its end, until it is watched for reading again.
  package func rest(_ socket: Int32) {
    var event = epoll_event(events: 0, data: epoll_data_t(fd: socket))
    epoll_ctl(poller, EPOLL_CTL_MOD, socket, &event)
  }

  /// Ends the watch of a socket; call it before the socket is closed.
  package func forget(_ socket: Int32) {
    epoll_ctl(poller, EPOLL_CTL_DEL, socket, nil)
    state.withLock { $0.owners[socket] = nil }
  }

  /// Calls an owner at a time of ``now()``, or a little later; a second time replaces the first.
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

  /// Calls an owner as soon as the thread has nothing else to do; an owner asks once until then.
  ///
  /// On few cores, other threads get a turn before, so that what they ask for can be done together.
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

  /// How long the thread may sleep, in milliseconds, rounded up; -1 for ever.
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
