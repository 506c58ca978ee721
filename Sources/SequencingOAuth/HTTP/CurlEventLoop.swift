internal import CCurl
internal import LoopbackHTTP

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The one event loop of the process: a thread that waits on every connection's socket.
///
/// Callers put what they want into the inbox. Whoever gets the lock of ``CurlMulti`` then does what
/// lies there: a caller that finds it free sends its request at once, which spares the wake-up of
/// the loop's thread; one that finds it taken leaves it to the holder, who looks again after
/// letting go. Transfers end, and callers are resumed, on the loop's thread only.
final class CurlEventLoop: Sendable {
  /// Started when it is first used, and running until the process ends.
  static let shared = Result { () throws(SQOAuthError) in try CurlEventLoop() }

  private enum Command: Sendable {
    case add(CurlTransfer)
    case resume(CurlTransfer)
    case end(CurlTransfer, SQOAuthError)
  }

  /// What libcurl's socket callbacks get.
  nonisolated(unsafe) let multiContext: UnsafeMutableRawPointer
  private let multi: Locked<CurlMulti>
  private let inbox = Locked<[Command]>([])
  private let poller: Int32
  private let bell: Int32

  private init() throws(SQOAuthError) {
    poller = epoll_create1(Int32(EPOLL_CLOEXEC))
    bell = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    // Edge-triggered, the bell needs no reading: every write wakes the thread once.
    var event = epoll_event(
      events: EPOLLIN.rawValue | EPOLLET.rawValue, data: epoll_data_t(fd: bell))
    guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK,
      let handle = curl_multi_init(), epoll_ctl(poller, EPOLL_CTL_ADD, bell, &event) == 0
    else {
      throw SQOAuthError(.connectionFailed, "libcurl could not be started.")
    }
    let multi = CurlMulti(handle, poller: poller)
    multiContext = Unmanaged.passUnretained(multi).toOpaque()
    self.multi = Locked(multi)
    try startThread()
  }

  // MARK: For callers

  /// Sends a transfer off; its continuation must be in place.
  func start(_ transfer: CurlTransfer) {
    inbox.withLock { $0.append(.add(transfer)) }
    workIfFree()
  }

  /// Lets a transfer go on that halted because the app was not ready.
  func resume(_ transfer: CurlTransfer) {
    inbox.withLock { $0.append(.resume(transfer)) }
    ring()
  }

  /// Ends a transfer, unless it has ended by itself.
  func end(_ transfer: CurlTransfer, _ error: SQOAuthError) {
    inbox.withLock { $0.append(.end(transfer, error)) }
    ring()
  }

  private func ring() {
    eventfd_write(bell, 1)
  }

  // MARK: Whoever holds the lock

  /// Does what lies in the inbox, unless somebody else is at it.
  private func workIfFree() {
    repeat {
      let isFree: Void? = multi.withLockIfAvailable { multi in
        work(multi)
        if multi.hasNewsForLoop {
          multi.sleepsUntil = 0
          ring()
        }
      }
      // The holder looks into the inbox once more after letting go, as the next line does.
      if isFree == nil { return }
    } while !inbox.withLock { $0.isEmpty }
  }

  private func work(_ multi: CurlMulti) {
    let commands = inbox.withLock { inbox in
      defer { inbox.removeAll(keepingCapacity: true) }
      return inbox
    }
    for command in commands {
      switch command {
      case .add(let transfer): multi.add(transfer)
      case .resume(let transfer): multi.resume(transfer)
      case .end(let transfer, let error): multi.end(transfer, error)
      }
    }
    multi.advance()
  }

  // MARK: The loop's thread

  private func startThread() throws(SQOAuthError) {
    var thread = pthread_t()
    let this = Unmanaged.passRetained(self)
    guard pthread_create(&thread, nil, runCurlEventLoop, this.toOpaque()) == 0 else {
      this.release()
      throw SQOAuthError(.connectionFailed, "No thread could be started for the HTTP client.")
    }
    pthread_detach(thread)
  }

  fileprivate func run() -> Never {
    var events = [epoll_event](repeating: epoll_event(), count: 64)
    var timeout: Int32 = 0
    while true {
      let count = epoll_wait(poller, &events, Int32(events.count), timeout)
      let (news, deadline) = multi.withLock { multi in
        for event in events.prefix(Int(max(count, 0))) where event.data.fd != bell {
          multi.handle(event.data.fd, event.events)
        }
        work(multi)
        multi.sleepsUntil = multi.deadline
        return (multi.takeNews(), multi.deadline)
      }
      for report in news.reports { report() }
      for transfer in news.ended { transfer.finish() }
      timeout = inbox.withLock { $0.isEmpty } ? Self.milliseconds(until: deadline) : 0
    }
  }

  /// Rounded up, so that nothing is looked at before it is due.
  private static func milliseconds(until deadline: UInt64) -> Int32 {
    guard deadline != .max else { return -1 }
    let now = TransferClock.now()
    return deadline <= now ? 0 : Int32(clamping: (deadline - now + 999_999) / 1_000_000)
  }
}

/// The thread's body; it takes no signal that is meant for the app.
private func runCurlEventLoop(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  var signals = sigset_t()
  sigfillset(&signals)
  pthread_sigmask(SIG_SETMASK, &signals, nil)
  guard let context else { return nil }
  Unmanaged<CurlEventLoop>.fromOpaque(context).takeUnretainedValue().run()
}
