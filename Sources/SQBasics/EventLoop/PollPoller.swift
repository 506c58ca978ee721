import CSQSockets
import SQLibC

/// A poller that waits with poll(2) and is woken through a pipe, for tests and systems without
/// epoll.
///
/// Each wait costs time for every socket, ready or not.
final class PollPoller: SocketPoller, @unchecked Sendable {
  private struct State {
    var events: [Int32: SocketEvents] = [:]
    /// Whether ``events`` has changed since the thread last copied it.
    var hasChanged = true
    /// Whether the thread waits with a copy of ``events``.
    var isWaiting = false
  }

  private let state = Locked(State())
  private let readEnd: Int32
  let wakeUpDescriptor: Int32
  /// The list for poll(2), with the pipe and all sockets; only the waiting thread uses it.
  private var polled: [pollfd] = []

  init() throws(EventLoopFailure) {
    var opened: [Int32] = [-1, -1]
    guard sq_pipe(&opened) == 0, let ends = DescriptorNumber.aboveStandard(opened) else {
      throw EventLoopFailure(errno: errno)
    }
    for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    (readEnd, wakeUpDescriptor) = (ends[0], ends[1])
  }

  deinit {
    close(readEnd)
    close(wakeUpDescriptor)
  }

  func set(_ socket: Int32, _ events: SocketEvents, isKnown: Bool) -> Bool {
    guard fcntl(socket, F_GETFD) >= 0 else { return false }
    change { $0[socket] = events }
    return true
  }

  func remove(_ socket: Int32) {
    change { $0[socket] = nil }
  }

  private func change(_ body: (inout [Int32: SocketEvents]) -> Void) {
    let isWaiting = state.withLock { state in
      body(&state.events)
      state.hasChanged = true
      return state.isWaiting
    }
    if isWaiting { SocketPollers.wakeUp(wakeUpDescriptor) }
  }

  func wait(until deadline: UInt64, _ ready: inout [ReadySocket]) -> Bool? {
    state.withLock { state in
      state.isWaiting = true
      guard state.hasChanged else { return }
      state.hasChanged = false
      polled = [sq_polled(readEnd, SocketEvents.readable.rawValue)]
      polled += state.events.map { sq_polled($0.key, $0.value.rawValue) }
    }
    let count = poll(&polled, nfds_t(polled.count), Monotonic.timeout(until: deadline))
    let canWait = count >= 0 || errno == EINTR
    return state.withLock { state -> Bool? in
      state.isWaiting = false
      guard canWait, sq_polled_events(polled[0]) & UInt32(POLLNVAL) == 0 else { return nil }
      guard count > 0 else { return false }
      for entry in polled.dropFirst() where sq_polled_events(entry) != 0 {
        let socket = sq_polled_file(entry)
        // Another thread may have removed or changed the socket in the meantime.
        guard let events = state.events[socket] else { continue }
        let reported = SocketEvents(reported: sq_polled_events(entry))
        let meant = reported.intersection(events.union(.ended))
        if meant.isEmpty { continue }
        ready.append(ReadySocket(socket, meant))
        guard events.contains(.once) else { continue }
        state.events[socket] = nil
        state.hasChanged = true
      }
      return sq_polled_events(polled[0]) != 0 && emptyPipe()
    }
  }

  private func emptyPipe() -> Bool {
    var bytes: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    while read(readEnd, &bytes, MemoryLayout.size(ofValue: bytes)) > 0 {}
    return true
  }
}
