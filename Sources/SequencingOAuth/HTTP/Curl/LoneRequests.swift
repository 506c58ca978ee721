import CSQCurl
import Glibc
import SQBasics
package import Synchronization

/// Sends a request on its caller's own thread if no other request is under way.
///
/// To wake two threads costs more than a small request. So the caller's thread sends such a
/// request. If the last one was answered within ``longestWait``, the thread also waits that long
/// for the answer. After that, the event loop's thread takes over.
///
/// This is only a shortcut. Without this file and the three lines in ``CurlEventLoop`` that name
/// it, every request goes to the event loop's thread.
package final class LoneRequests: Sendable {
  /// How long a caller's thread may wait for an answer, in nanoseconds; tests change it.
  package static let longestWait = Atomic<UInt64>(300_000)
  /// How long a thread looks for an answer without sleeping, in nanoseconds.
  ///
  /// To put a core to sleep and wake it again can take longer than the answer of a near server.
  fileprivate static let vigil: UInt64 = 200_000

  private struct State {
    /// How many transfers were started and have not ended, or have callers that do not know it yet.
    var count = 0
    /// The transfer that was started while there was no other, until it ends; `nil` if none.
    var lone: (transfer: ObjectIdentifier, start: UInt64)?
    /// How long the last such transfer took, in nanoseconds.
    var lastTime = UInt64.max
  }

  private let state = Locked(State())

  /// Sends a transfer if there is no other, and may wait for its end.
  ///
  /// Returns `false` if the event loop's thread must send the transfer.
  func send(_ transfer: CurlTransfer, on loop: CurlEventLoop) -> Bool {
    guard let (start, lastTime) = begin(transfer) else { return false }
    let longestWait = Self.longestWait.load(ordering: .relaxed)
    let ended = loop.multi.withLockIfAvailable { multi -> [CurlTransfer]? in
      guard multi.isIdle, !multi.isStopped else { return nil }
      multi.add(transfer)
      multi.advance()
      if lastTime < longestWait {
        multi.wait(for: transfer, until: start + longestWait, awake: lastTime < Self.vigil)
      }
      multi.sockets.applyChanges()
      if multi.deadline < multi.sleepsUntil {
        multi.sleepsUntil = 0
        loop.ring()
      }
      return multi.takeNews().ended
    }
    guard case .some(let ended?) = ended else { return false }
    loop.finish(ended)
    return true
  }

  /// Counts a transfer; if there is no other, returns its start and the time that the last one
  /// took.
  private func begin(_ transfer: CurlTransfer) -> (start: UInt64, lastTime: UInt64)? {
    state.withLock { state in
      state.count += 1
      guard state.count == 1, !transfer.isWatched else { return nil }
      let start = TransferClock.now()
      state.lone = (ObjectIdentifier(transfer), start)
      return (start, state.lastTime)
    }
  }

  /// Notes transfers that have ended, before their callers know.
  func ended(_ transfers: [CurlTransfer]) {
    state.withLock { state in
      state.count -= transfers.count
      guard let (lone, start) = state.lone,
        transfers.contains(where: { ObjectIdentifier($0) == lone })
      else { return }
      state.lone = nil
      state.lastTime = TransferClock.now() - start
    }
  }
}

extension CurlMulti {
  /// Does the event loop's work on this thread until the transfer has ended, or until `end`.
  ///
  /// If `awake`, the thread does not sleep for the first ``LoneRequests/vigil`` nanoseconds.
  fileprivate func wait(for transfer: CurlTransfer, until end: UInt64, awake: Bool) {
    let isAwakeUntil = awake ? TransferClock.now() + LoneRequests.vigil : 0
    while case .running = transfer.phase {
      let now = TransferClock.now()
      guard now < end else { return }
      let limit = now < isAwakeUntil ? now : min(end, deadline)
      let events = sockets.wait(limit > now ? limit - now : 0)
      // The server may be waiting for this core.
      if events.isEmpty { sched_yield() }
      for event in events { handle(event.fd, event.events) }
      advance()
    }
  }
}

extension SocketTable {
  /// Waits, at most so many nanoseconds, for the sockets that libcurl has named since
  /// ``SocketTable/applyChanges()``.
  ///
  /// epoll does not watch them in the meantime, since it would wake the event loop's thread.
  fileprivate mutating func wait(_ nanoseconds: UInt64) -> [(fd: Int32, events: UInt32)] {
    for socket in named { unregister(socket) }
    var polled = named.compactMap { socket -> pollfd? in
      let wanted = wanted(socket)
      // The bits of poll are those of epoll.
      return wanted == 0 ? nil : pollfd(fd: socket, events: Int16(wanted), revents: 0)
    }
    guard sq_poll(&polled, nfds_t(polled.count), nanoseconds) > 0 else { return [] }
    return polled.filter { $0.revents != 0 }.map { ($0.fd, UInt32(UInt16(bitPattern: $0.revents))) }
  }
}
