import CSQCurl
import Glibc
import SQBasics
package import Synchronization

/// Sends a request on its caller's own thread if no other request is running.
///
/// Waking two threads costs more than a small request, so the caller's thread sends such a request.
/// If the last one was answered within ``longestWait``, the thread also waits that long for the
/// response. After that, the event loop's thread takes over.
///
/// This is only an optimization. Without this file and the three lines in ``CurlEventLoop`` that
/// name it, every request goes to the event loop's thread.
package final class LoneRequests: Sendable {
  /// How long a caller's thread may wait for a response, in nanoseconds; tests change it.
  package static let longestWait = Atomic<UInt64>(300_000)
  /// How long a thread polls for a response without sleeping, in nanoseconds.
  ///
  /// Putting a core to sleep and waking it again can take longer than the response of a nearby
  /// server.
  fileprivate static let vigil: UInt64 = 200_000

  private struct State {
    /// The number of started transfers that have not ended, or whose callers were not resumed yet.
    var count = 0
    /// The transfer that started while there was no other, until it ends; `nil` if there is none.
    var lone: (transfer: ObjectIdentifier, start: UInt64)?
    /// The duration of the last such transfer, in nanoseconds.
    var lastTime = UInt64.max
  }

  private let state = Locked(State())

  /// Sends a transfer if there is no other, and may wait until it ends.
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

  /// Counts a transfer.
  ///
  /// If there is no other transfer, it returns the transfer's start and the duration of the last
  /// one.
  private func begin(_ transfer: CurlTransfer) -> (start: UInt64, lastTime: UInt64)? {
    state.withLock { state in
      state.count += 1
      guard state.count == 1, !transfer.isWatched else { return nil }
      let start = TransferClock.now()
      state.lone = (ObjectIdentifier(transfer), start)
      return (start, state.lastTime)
    }
  }

  /// Records transfers that have ended, before their callers are resumed.
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
  /// If `awake` is true, the thread does not sleep in the first ``LoneRequests/vigil`` nanoseconds.
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
  /// Waits for the sockets that libcurl has named since ``SocketTable/applyChanges()``.
  ///
  /// epoll does not watch these sockets in the meantime, because it would wake the event loop's
  /// thread.
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
