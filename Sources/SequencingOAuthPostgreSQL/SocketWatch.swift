import CSQPostgreSQL
import Glibc
import SQBasics

/// A thread that waits for the sockets of all connections, so that callers' threads need not wait.
///
/// It only wakes callers, which read and write their sockets themselves. The process has one such
/// thread. It starts with the first wait and sleeps while no caller waits.
final class SocketWatch: Sendable {
  /// The process's only instance; `nil` if the system could not create a thread or a descriptor.
  static let shared = SocketWatch()

  /// A waiting caller, which gets the time at which its socket was ready, or `nil` at the deadline.
  private struct Wait {
    let end: ContinuousClock.Instant
    let continuation: CheckedContinuation<ContinuousClock.Instant?, Never>
  }

  private struct State {
    var waits: [Int32: Wait] = [:]
    /// Waits without a socket, which only end at their deadlines.
    var sleeps: [Wait] = []
    /// The time at which the thread next checks for ended waits; no wait ends earlier.
    var looksAt = ContinuousClock.now
  }

  private let poller: Int32
  /// An event descriptor that makes the thread compute its next wake-up again.
  private let bell: Int32
  private let state = Locked(State())

  /// The longest time between two checks.
  private static let period = Duration.seconds(3600)

  private init?() {
    poller = epoll_create1(Int32(EPOLL_CLOEXEC))
    bell = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    var event = Self.event(bell, EPOLLIN.rawValue)
    guard poller >= 0, bell >= 0, epoll_ctl(poller, EPOLL_CTL_ADD, bell, &event) == 0,
      Threads.start({ [self] in run() })
    else {
      close(poller)
      close(bell)
      return nil
    }
  }

  // MARK: For callers

  /// Waits until a socket is ready for what its connection needs, and returns the time.
  ///
  /// Returns `nil` at the deadline, or at once if the system cannot watch the socket. Cancelling
  /// the waiting task does not end the wait.
  func wait(
    for socket: Int32, _ need: ResultReader.Need, until end: ContinuousClock.Instant
  ) async -> ContinuousClock.Instant? {
    await withCheckedContinuation { continuation in
      let isEarlier = state.withLock { state in
        state.waits[socket] = Wait(end: end, continuation: continuation)
        return Self.brings(&state, forward: end)
      }
      let events =
        switch need {
        case .reading: EPOLLIN.rawValue
        case .readingOrWriting: EPOLLIN.rawValue | EPOLLOUT.rawValue
        }
      var event = Self.event(socket, events | EPOLLONESHOT.rawValue)
      // The kernel forgets a closed socket, whose number may belong to another socket now.
      if epoll_ctl(poller, EPOLL_CTL_MOD, socket, &event) != 0,
        epoll_ctl(poller, EPOLL_CTL_ADD, socket, &event) != 0
      {
        // The system cannot watch the socket, for example without memory. End the wait at once.
        state.withLock { $0.waits.removeValue(forKey: socket) }?.continuation.resume(returning: nil)
      }
      if isEarlier { eventfd_write(bell, 1) }
    }
  }

  /// Waits for a time; cancelling the waiting task does not end the wait.
  func sleep(until end: ContinuousClock.Instant) async {
    _ = await withCheckedContinuation { continuation in
      let isEarlier = state.withLock { state in
        state.sleeps.append(Wait(end: end, continuation: continuation))
        return Self.brings(&state, forward: end)
      }
      if isEarlier { eventfd_write(bell, 1) }
    }
  }

  private static func brings(_ state: inout State, forward end: ContinuousClock.Instant) -> Bool {
    guard end < state.looksAt else { return false }
    state.looksAt = end
    return true
  }

  private static func event(_ socket: Int32, _ events: UInt32) -> epoll_event {
    var event = epoll_event()
    event.events = events
    event.data.fd = socket
    return event
  }

  // MARK: On the thread

  private func run() -> Never {
    var events = [epoll_event](repeating: epoll_event(), count: 64)
    while true {
      let left = (state.withLock(\.looksAt) - .now) / .milliseconds(1)
      let count = epoll_wait(
        poller, &events, Int32(events.count), Int32(max(0, left.rounded(.up))))
      let now = ContinuousClock.now
      for event in events.prefix(Int(max(0, count))) {
        if event.data.fd == bell {
          var value: UInt64 = 0
          eventfd_read(bell, &value)
        } else {
          state.withLock { $0.waits.removeValue(forKey: event.data.fd) }?
            .continuation.resume(returning: now)
        }
      }
      for wait in ended(at: now) { wait.continuation.resume(returning: nil) }
    }
  }

  /// Removes and returns the waits that have ended, and computes the time of the next check.
  private func ended(at now: ContinuousClock.Instant) -> [Wait] {
    state.withLock { state in
      guard state.looksAt <= now else { return [] }
      let sockets = state.waits.filter { $0.value.end <= now }
      for socket in sockets.keys { state.waits[socket] = nil }
      let sleeps = state.sleeps.filter { $0.end <= now }
      state.sleeps.removeAll { $0.end <= now }
      let ends = state.waits.values.map(\.end) + state.sleeps.map(\.end)
      state.looksAt = min(now + Self.period, ends.min() ?? now + Self.period)
      return Array(sockets.values) + sleeps
    }
  }
}
