import CCurl

/// libcurl's multi handles and everything that may be touched only together with them.
///
/// ``CurlEventLoop`` keeps it behind its lock. Here live the transfers that run, the connections
/// that wait for the next one, and the moments at which something is due.
final class CurlMulti {
  /// The connections that several transfers may use at a time, over HTTP/2.
  private let shared: UnsafeMutableRawPointer
  /// Those that one transfer uses at a time.
  private let unshared: UnsafeMutableRawPointer
  var sockets: SocketTable
  /// Until when the loop's thread sleeps, 0 while it is awake or was woken.
  var sleepsUntil: UInt64 = 0
  /// Whether the process ends, and libcurl must be left alone.
  var isStopped = false
  private var active: [CurlTransfer] = []
  /// How many of them have their progress watched.
  private var watchedCount = 0
  /// How many of them are libcurl's ``unshared``.
  private var unsharedCount = 0
  /// Those that ended since the loop's thread last took them; not yet told to their callers.
  private var ended: [CurlTransfer] = []
  /// Whether the last transfer that ran alone ended within the time that a caller may wait.
  private var lastAloneWasQuick = false
  /// When libcurl wants to be called for the shared connections, and for the others.
  private var sharedTimer = UInt64.max
  private var unsharedTimer = UInt64.max
  /// No transfer's time is up before this.
  private var nextCheck = UInt64.max

  init(
    _ shared: UnsafeMutableRawPointer, _ unshared: UnsafeMutableRawPointer, poller: Int32
  ) {
    self.shared = shared
    self.unshared = unshared
    sockets = SocketTable(poller: poller)
    let this = Unmanaged.passUnretained(self).toOpaque()
    for multi in [shared, unshared] {
      sq_multi_set_callbacks(multi, curlWatchSocket, curlSetTimer, this)
      // libcurl's own default shrinks with the number of running requests and closes what it kept.
      sq_multi_set_long(multi, CURLMOPT_MAXCONNECTS, 128)
    }
    sq_multi_set_long(shared, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
    sq_multi_set_long(unshared, CURLMOPT_PIPELINING, Int(CURLPIPE_NOTHING))
  }

  /// When to come back if no socket speaks up before.
  var deadline: UInt64 { min(sharedTimer, unsharedTimer, nextCheck) }

  /// libcurl's timer callback; a negative time means none.
  func setTimer(_ milliseconds: Int, of multi: UnsafeMutableRawPointer?) {
    let due =
      milliseconds < 0 ? .max : TransferClock.now() + UInt64(milliseconds) * 1_000_000
    if multi == shared { sharedTimer = due } else { unsharedTimer = due }
  }

  private func multi(_ transfer: CurlTransfer) -> UnsafeMutableRawPointer {
    transfer.sharesConnection ? shared : unshared
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
    if !transfer.sharesConnection { unsharedCount += 1 }
    guard curl_multi_add_handle(multi(transfer), transfer.handle.easy) == CURLM_OK else {
      end(
        transfer,
        SQOAuthError(
          .connectionFailed, "libcurl did not take the request to \(transfer.target.authority)"))
      return
    }
    nextCheck = min(nextCheck, transfer.clock.deadline)
  }

  /// Adds the only transfer there is, and waits for its end where the last such one was quick.
  func addAlone(_ transfer: CurlTransfer, patience: UInt64) {
    let start = TransferClock.now()
    transfer.quickUntil = start + patience
    sockets.isHeld = lastAloneWasQuick
    add(transfer)
    advance()
    guard sockets.isHeld else { return }
    while case .running = transfer.phase {
      let now = TransferClock.now()
      let limit = min(transfer.quickUntil, deadline)
      guard now < transfer.quickUntil else { break }
      for event in sockets.wait(limit > now ? limit - now : 0) { handle(event.fd, event.events) }
      advance()
    }
    sockets.isHeld = false
    if case .running = transfer.phase { lastAloneWasQuick = false }
  }

  /// Ends a transfer from this side; one that has ended already stays as it is.
  func end(_ transfer: CurlTransfer, _ error: SQOAuthError) {
    if case .ended = transfer.phase { return }
    if transfer.failure == nil { transfer.failure = error }
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
    // libcurl passes over a socket that is the other's.
    act(shared, socket, mask)
    if unsharedCount > 0 { act(unshared, socket, mask) }
  }

  private func act(_ multi: UnsafeMutableRawPointer, _ socket: Int32, _ mask: Int32) {
    var running: Int32 = 0
    curl_multi_socket_action(multi, socket, mask, &running)
  }

  /// Does what is due by now, and gathers what has ended.
  func advance() {
    let now = TransferClock.now()
    if sharedTimer <= now {
      sharedTimer = .max
      act(shared, CURL_SOCKET_TIMEOUT, 0)
    }
    if unsharedTimer <= now {
      unsharedTimer = .max
      act(unshared, CURL_SOCKET_TIMEOUT, 0)
    }
    takeMessages(shared)
    if unsharedCount > 0 { takeMessages(unshared) }
    if nextCheck <= now { checkTime(now) }
  }

  private func takeMessages(_ multi: UnsafeMutableRawPointer) {
    var left: Int32 = 0
    while let message = curl_multi_info_read(multi, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle,
        let context = sq_get_private(easy),
        let transfer = Unmanaged<CurlHandle>.fromOpaque(context).takeUnretainedValue().transfer
      else { continue }
      finish(transfer, sq_message_result(message))
    }
  }

  /// What the loop's thread has to tell, outside the lock.
  func takeNews() -> (reports: [@Sendable () -> Void], ended: [CurlTransfer]) {
    var reports: [@Sendable () -> Void] = []
    if watchedCount > 0 || ended.contains(where: { $0.progress != nil }) {
      reports = (active + ended).compactMap { $0.progress?.due() }
    }
    defer { ended.removeAll() }
    return (reports, ended)
  }

  private func finish(_ transfer: CurlTransfer, _ code: CURLcode) {
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
    curl_multi_remove_handle(multi(transfer), transfer.handle.easy)
    transfer.handle.transfer = nil
    transfer.phase = .ended
    if transfer.quickUntil != 0 { lastAloneWasQuick = TransferClock.now() < transfer.quickUntil }
    if transfer.progress != nil { watchedCount -= 1 }
    if !transfer.sharesConnection { unsharedCount -= 1 }
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
    for transfer in active where transfer.clock.deadline <= now {
      end(transfer, transfer.timeUp(now))
    }
    for transfer in active { nextCheck = min(nextCheck, transfer.clock.deadline) }
  }
}
