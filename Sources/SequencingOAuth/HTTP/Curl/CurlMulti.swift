import CSQCurl
import SQBasics

/// libcurl's two multi handles, with the running transfers and the times at which work is due.
///
/// The lock of ``CurlEventLoop`` protects this object. The object also holds the connections that
/// are kept for later transfers.
final class CurlMulti {
  /// Connections that may serve several transfers at the same time, over HTTP/2.
  private let shared: CurlConnections
  /// Connections that serve one transfer at a time.
  private let unshared: CurlConnections
  var sockets: SocketTable
  /// Whether the process is about to end, so that libcurl must not be called.
  var isStopped = false
  private(set) var active: [CurlTransfer] = []
  /// The number of active transfers that report their progress.
  private var watchedCount = 0
  /// The transfers that have ended and whose callers have not been resumed yet.
  private var ended: [CurlTransfer] = []
  /// The maximum time to read data that arrived before a transfer's limit was checked, in
  /// nanoseconds.
  ///
  /// It is long enough to read all data that the system buffers for a connection.
  private static let lastReading: UInt64 = 250_000_000
  /// The earliest time at which a transfer may reach its limit.
  private var nextCheck = UInt64.max
  /// The sockets that libcurl had not read to the end when its turn ended; see ``ReadingTurn``.
  ///
  /// The system might not announce their remaining data: with a proxy that uses TLS, that data is
  /// in OpenSSL's buffers.
  private var unread: [Int32] = []

  /// - Throws: ``SQOAuthError/Code/connectionFailed`` if libcurl is out of memory.
  init(_ loop: EventLoop) throws(SQOAuthError) {
    shared = try CurlConnections(areShared: true)
    unshared = try CurlConnections(areShared: false)
    sockets = SocketTable(loop)
    let this = Unmanaged.passUnretained(self).toOpaque()
    for connections in [shared, unshared] { connections.watchSockets(this) }
  }

  /// How often to serve a socket that the system cannot watch, in nanoseconds.
  private static let servingInterval: UInt64 = 100_000_000

  /// The time at which the event loop must continue, even if no socket has an event by then.
  var deadline: UInt64 {
    guard unread.isEmpty else { return 0 }
    let serving = sockets.unwatched.isEmpty ? .max : Monotonic.now() + Self.servingInterval
    return min(shared.timer, unshared.timer, nextCheck, serving)
  }

  private func connections(_ transfer: CurlTransfer) -> CurlConnections {
    transfer.sharesConnection ? shared : unshared
  }

  // MARK: What callers ask for

  func add(_ transfer: CurlTransfer) {
    // The transfer was ended before it was started.
    guard transfer.failure == nil else {
      transfer.phase = .ended
      ended.append(transfer)
      return
    }
    transfer.handle.transfer = transfer
    transfer.phase = .running(index: active.count)
    active.append(transfer)
    if transfer.progress != nil { watchedCount += 1 }
    guard connections(transfer).add(transfer.handle) else {
      end(
        transfer,
        SQOAuthError(
          .connectionFailed, "libcurl did not accept the request to \(transfer.target.authority)"))
      return
    }
    nextCheck = min(nextCheck, transfer.clock.deadline)
  }

  /// Ends a transfer with an error; does nothing if the transfer has already ended.
  func end(_ transfer: CurlTransfer, _ error: SQOAuthError) {
    if case .ended = transfer.phase { return }
    transfer.giveUp(error)
    remove(transfer)
  }

  /// Continues a transfer that waited for the app.
  ///
  /// libcurl first delivers the content that it kept. If that fails, libcurl 7.88 reports it only
  /// here, and does nothing more for the transfer.
  func resume(_ transfer: CurlTransfer) {
    guard case .running = transfer.phase else { return }
    transfer.clock.resume()
    nextCheck = min(nextCheck, transfer.clock.deadline)
    let code = curl_easy_pause(transfer.handle.easy, sq_continue)
    // A transfer without a connection, because it waits for one or is complete, cannot be paused.
    if code != CURLE_OK, code != CURLE_BAD_FUNCTION_ARGUMENT { finish(transfer, code) }
  }

  // MARK: What time and the network bring

  func handle(_ socket: Int32, _ events: SocketEvents) {
    guard sockets.isWanted(socket) else { return }
    var mask: Int32 = 0
    if events.contains(.readable) { mask |= sq_select_in }
    if events.contains(.writable) { mask |= sq_select_out }
    // After a hang-up, the next read or write returns the error.
    if mask == 0 { mask = sq_select_in | sq_select_out | sq_select_error }
    let hasMore = shared.handle(socket, mask)
    if unshared.handle(socket, mask) || hasMore { unread.append(socket) }
  }

  /// Does the work that is due now, and collects the transfers that have ended.
  func advance() {
    if !unread.isEmpty { readOn() }
    for socket in sockets.unwatched { handle(socket, [.readable, .writable]) }
    let now = Monotonic.now()
    let hasMore = shared.advance(now)
    if unshared.advance(now) || hasMore { unread = sockets.awaited }
    gatherEnded()
    if nextCheck <= now { checkTime(now) }
  }

  private func readOn() {
    let sockets = unread
    unread.removeAll(keepingCapacity: true)
    for socket in sockets { handle(socket, .readable) }
  }

  /// Returns whether a transfer may continue; marks it as failed if it received far more bytes than
  /// its content needs.
  func mayGoOn(_ transfer: CurlTransfer) -> Bool {
    guard isFlooded(transfer) else { return true }
    transfer.giveUpFlooded()
    return false
  }

  private func isFlooded(_ transfer: CurlTransfer) -> Bool {
    guard let socket = transfer.usedSocket() else { return false }
    defer { transfer.uncounted = 0 }
    return sockets.isFlooded(
      socket, content: transfer.uncounted, allowance: transfer.wireAllowance)
  }

  private func gatherEnded() {
    while let (transfer, code) = shared.nextEnded() ?? unshared.nextEnded() {
      finish(transfer, code)
    }
  }

  /// Whether no transfer runs and ``takeNews()`` has returned every ended transfer.
  var isIdle: Bool { active.isEmpty && ended.isEmpty }

  /// The progress reports to call and the transfers to finish, both outside the lock.
  typealias News = (reports: [@Sendable () -> Void], ended: [CurlTransfer])

  /// Returns the progress reports that are due and the ended transfers, and forgets these
  /// transfers.
  func takeNews() -> News {
    defer { ended.removeAll() }
    // Most requests report no progress, so the active transfers need not be searched.
    let hasWatched = watchedCount > 0 || ended.contains { $0.progress != nil }
    return (hasWatched ? (active + ended).compactMap { $0.progress?.due() } : [], ended)
  }

  private func finish(_ transfer: CurlTransfer, _ code: CURLcode) {
    if let opening = transfer.opening, code == CURLE_OK {
      opening.take(sq_get_active_socket(transfer.handle.easy))
    }
    // After a complete response, it does not matter that the rest of the request was not sent.
    // libcurl may report an error for a connection that was handed over.
    let isComplete = transfer.isAnswered || transfer.opening?.connection != nil
    let opening = transfer.opening?.failure
    let code = isComplete ? CURLE_OK : opening?.code ?? code
    if transfer.failure == nil, code != CURLE_OK {
      let handle = transfer.handle
      let wasSent = transfer.attempts.withLock { $0 > 0 }
      let trace = SQOAuthError.ProxyTrace(handle)
      let setting = ProxySetting(handle.proxy, isSecure: transfer.target.isSecure)
      let authority = transfer.target.authority
      transfer.failure = SQOAuthError(
        code, authority: authority, detail: opening == nil ? handle.errorDetail : "",
        errno: opening?.errno ?? handle.systemError(after: code, wasSent: wasSent),
        wasSent: wasSent, proxyTrace: trace, proxySetting: setting
      ).namingProxy(setting, trace, authority, after: code)
    }
    if code == CURLE_OK { transfer.progress?.finish() }
    remove(transfer)
  }

  private func remove(_ transfer: CurlTransfer) {
    guard case .running(let index) = transfer.phase else { return }
    // Counts the transfer's last bytes for the connection; the result no longer matters.
    _ = isFlooded(transfer)
    if let rest = transfer.rest, let socket = transfer.usedSocket() {
      sockets.expect(rest, at: socket)
    }
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

  /// Ends the transfers that have reached their time limit, and schedules the next check.
  func checkTime(_ now: UInt64) {
    nextCheck = .max
    readArrived(by: now)
    for transfer in active where transfer.clock.deadline <= now {
      end(transfer, transfer.timeUp(now))
    }
    for transfer in active { nextCheck = min(nextCheck, transfer.clock.deadline) }
  }

  /// Reads the data in the sockets if any transfer has reached its time limit.
  ///
  /// The process may have been suspended, by a debugger or in a frozen container. A response that
  /// arrived in that time may be the only copy of a token. ``lastReading`` limits the time for a
  /// server that sends without end.
  private func readArrived(by now: UInt64) {
    let end = Monotonic.now() + Self.lastReading
    while active.contains(where: { $0.clock.deadline <= now }), Monotonic.now() < end {
      let readable = sockets.readable()
      if readable.isEmpty { return }
      for socket in readable { handle(socket, .readable) }
      gatherEnded()
    }
  }
}
