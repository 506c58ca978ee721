import CCurl
import Glibc

/// libcurl's multi handles and everything that may be touched only together with them.
///
/// ``CurlEventLoop`` keeps it behind its lock. Here live the transfers that run, the connections
/// that wait for the next one, and the moments at which something is due.
final class CurlMulti {
  /// Connections that may serve several transfers at a time, over HTTP/2.
  private let shared: CurlConnections
  /// Connections that serve one transfer at a time.
  private let unshared: CurlConnections
  /// Connections that speak HTTP/2 without TLS, and may serve several transfers at a time.
  private let presumed: CurlConnections
  /// Servers to which one of those was opened, and may still be there.
  private var presumedServers: Set<String> = []
  var sockets: SocketTable
  /// Until when the loop's thread sleeps, 0 while it is awake or was woken.
  var sleepsUntil: UInt64 = 0
  /// Whether the process ends, and libcurl must be left alone.
  var isStopped = false
  private var active: [CurlTransfer] = []
  /// How many of them have their progress watched.
  private var watchedCount = 0
  /// Those that ended since the loop's thread last took them; not yet told to their callers.
  private var ended: [CurlTransfer] = []
  /// For how long transfers whose time is up may read what has arrived, in nanoseconds: enough for
  /// all that the system holds for a connection.
  private static let lastReading: UInt64 = 250_000_000
  /// No transfer's time is up before this.
  private var nextCheck = UInt64.max

  /// - Throws: ``SQOAuthError/Code/connectionFailed`` if libcurl has no memory.
  init(poller: Int32) throws(SQOAuthError) {
    shared = try CurlConnections(areShared: true)
    unshared = try CurlConnections(areShared: false)
    presumed = try CurlConnections(areShared: true)
    sockets = SocketTable(poller: poller)
    let this = Unmanaged.passUnretained(self).toOpaque()
    for connections in [shared, unshared, presumed] { connections.watchSockets(this) }
  }

  /// When to come back if no socket speaks up before.
  var deadline: UInt64 { min(shared.timer, unshared.timer, presumed.timer, nextCheck) }

  private func connections(_ transfer: CurlTransfer) -> CurlConnections {
    switch transfer.pool {
    case .common: shared
    case .presumed: presumed
    case .alone: unshared
    }
  }

  /// Puts a transfer's handle to work.
  private func attach(_ transfer: CurlTransfer) -> Bool {
    if transfer.pool == .presumed {
      // Forgetting one costs a request to it a second connection.
      if presumedServers.count >= 1000 { presumedServers = [] }
      let (isNew, _) = presumedServers.insert(transfer.target.authority)
      transfer.join(!isNew)
    }
    return connections(transfer).add(transfer.handle)
  }

  /// Has a transfer that found no connection to use open one; says whether there is such a case.
  private func reattach(_ transfer: CurlTransfer) -> Bool {
    guard transfer.foundNone, transfer.failure == nil else { return false }
    presumed.remove(transfer.handle)
    transfer.join(false)
    return presumed.add(transfer.handle)
  }

  // MARK: What callers ask for

  func add(_ transfer: CurlTransfer) {
    // It was ended before it began.
    guard transfer.failure == nil else {
      transfer.phase = .ended
      ended.append(transfer)
      return
    }
    transfer.handle.transfer = transfer
    transfer.phase = .running(index: active.count)
    active.append(transfer)
    if transfer.progress != nil { watchedCount += 1 }
    guard attach(transfer) else {
      end(
        transfer,
        SQOAuthError(
          .connectionFailed, "libcurl did not take the request to \(transfer.target.authority)"))
      return
    }
    nextCheck = min(nextCheck, transfer.clock.deadline)
  }

  /// Ends a transfer from this side; one that has ended already stays as it is.
  func end(_ transfer: CurlTransfer, _ error: SQOAuthError) {
    if case .ended = transfer.phase { return }
    transfer.giveUp(error)
    remove(transfer)
  }

  /// Goes on where the app was waited for.
  func resume(_ transfer: CurlTransfer) {
    guard case .running = transfer.phase else { return }
    transfer.clock.resume()
    nextCheck = min(nextCheck, transfer.clock.deadline)
    curl_easy_pause(transfer.handle.easy, CURLPAUSE_CONT)
  }

  // MARK: What time and the network bring

  func handle(_ socket: Int32, _ events: UInt32) {
    guard sockets.isWanted(socket) else { return }
    var mask: Int32 = 0
    if events & EPOLLIN.rawValue != 0 { mask |= CURL_CSELECT_IN }
    if events & EPOLLOUT.rawValue != 0 { mask |= CURL_CSELECT_OUT }
    // A hang-up shows when it is read or written.
    if mask == 0 { mask = CURL_CSELECT_IN | CURL_CSELECT_OUT | CURL_CSELECT_ERR }
    shared.handle(socket, mask)
    unshared.handle(socket, mask)
    presumed.handle(socket, mask)
  }

  /// Does what is due by now, and gathers what has ended.
  func advance() {
    let now = TransferClock.now()
    shared.advance(now)
    unshared.advance(now)
    presumed.advance(now)
    gatherEnded()
    if nextCheck <= now { checkTime(now) }
  }

  private func gatherEnded() {
    while let (transfer, code) = shared.nextEnded() ?? unshared.nextEnded() ?? presumed.nextEnded()
    {
      finish(transfer, code)
    }
  }

  /// Whether no transfer runs, and the end of every one was taken by ``takeNews()``.
  var isIdle: Bool { active.isEmpty && ended.isEmpty }

  /// The reports to make and the transfers to give back, both outside the lock.
  func takeNews() -> (reports: [@Sendable () -> Void], ended: [CurlTransfer]) {
    defer { ended.removeAll() }
    // Most requests have no progress to report, and then the lists are not searched.
    let hasWatched = watchedCount > 0 || ended.contains { $0.progress != nil }
    return (hasWatched ? (active + ended).compactMap { $0.progress?.due() } : [], ended)
  }

  private func finish(_ transfer: CurlTransfer, _ code: CURLcode) {
    if reattach(transfer) { return }
    // What could not be sent behind a whole answer is of no interest.
    let code = transfer.isAnswered ? CURLE_OK : code
    if transfer.failure == nil, code != CURLE_OK {
      let handle = transfer.handle
      let errno = Int32(truncatingIfNeeded: sq_get_long(handle.easy, CURLINFO_OS_ERRNO))
      transfer.failure = SQOAuthError(
        code, authority: transfer.target.authority, detail: handle.errorDetail, errno: errno)
    }
    if code == CURLE_OK { transfer.progress?.finish() }
    remove(transfer)
  }

  private func remove(_ transfer: CurlTransfer) {
    guard case .running(let index) = transfer.phase else { return }
    connections(transfer).remove(transfer.handle)
    transfer.handle.transfer = nil
    transfer.phase = .ended
    if transfer.progress != nil { watchedCount -= 1 }
    let last = active.removeLast()
    if last !== transfer {
      active[index] = last
      last.phase = .running(index: index)
    }
    ended.append(transfer)
  }

  /// Ends those whose time is up and finds out when the next one's may be.
  private func checkTime(_ now: UInt64) {
    nextCheck = .max
    readArrived(by: now)
    for transfer in active where transfer.clock.deadline <= now {
      end(transfer, transfer.timeUp(now))
    }
    for transfer in active { nextCheck = min(nextCheck, transfer.clock.deadline) }
  }

  /// Reads what lies in the sockets, while the time of any transfer is up.
  ///
  /// The process may have stood still, in a debugger or a frozen container, and an answer that came
  /// meanwhile may be the only copy of a token. A server that sends without end gains little by it.
  private func readArrived(by now: UInt64) {
    let end = TransferClock.now() + Self.lastReading
    while active.contains(where: { $0.clock.deadline <= now }), TransferClock.now() < end {
      let readable = sockets.readable()
      if readable.isEmpty { return }
      for socket in readable { handle(socket, EPOLLIN.rawValue) }
      gatherEnded()
    }
  }
}
