import CSQCurl
import Glibc
import SQBasics
import SQCrypto

/// The event loop of the process: one thread that waits for the sockets of all connections.
///
/// Callers put commands into the inbox and write to an eventfd, which wakes the thread. The thread
/// takes the lock of ``CurlMulti``, executes the commands and handles the sockets' events. Then it
/// resumes the callers outside the lock. A request that runs alone may skip the thread; see
/// ``LoneRequests``.
final class CurlEventLoop: Sendable {
  /// The only loop, which starts on first use and runs until the process ends.
  ///
  /// If the system could not provide a file descriptor or a thread, a later use tries again.
  static var shared: Result<CurlEventLoop, SQOAuthError> {
    if case .success = first { return first }
    return later.withLock { later in
      if let later { return .success(later) }
      let again = start()
      if case .success(let loop) = again { later = loop }
      return again
    }
  }

  private static let first = start()
  private static let later = Locked<CurlEventLoop?>(nil)

  private static func start() -> Result<CurlEventLoop, SQOAuthError> {
    Result { () throws(SQOAuthError) in try CurlEventLoop() }
  }

  private enum Command: Sendable {
    case add(CurlTransfer)
    case resume(CurlTransfer)
    case end(CurlTransfer, SQOAuthError)
    case advance(TimeLead, Duration)
  }

  private struct Inbox {
    var commands: [Command] = []
    /// Whether the thread waits, or is about to wait, and no caller has woken it since.
    var isAsleep = false

    /// Adds a command; returns whether the caller must wake the thread.
    mutating func leave(_ command: Command) -> Bool {
      commands.append(command)
      defer { isAsleep = false }
      return isAsleep
    }
  }

  /// The pointer to the ``CurlMulti`` that libcurl's socket callbacks receive.
  nonisolated(unsafe) let multiContext: UnsafeMutableRawPointer
  let multi: Locked<CurlMulti>
  private let lone = LoneRequests()
  private let inbox = Locked(Inbox())
  private let poller: Int32
  private let bell: Int32

  private init() throws(SQOAuthError) {
    OpenSSL.begin()
    guard curl_global_init(sq_global_default) == CURLE_OK else {
      throw SQOAuthError(.connectionFailed, "libcurl could not be started")
    }
    poller = epoll_create1(Int32(EPOLL_CLOEXEC))
    bell = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    // The eventfd is edge-triggered, so nothing reads it: every write wakes the thread once.
    var event = epoll_event(
      events: EPOLLIN.rawValue | EPOLLET.rawValue, data: epoll_data_t(fd: bell))
    guard poller >= 0, bell >= 0, epoll_ctl(poller, EPOLL_CTL_ADD, bell, &event) == 0 else {
      let reason = CLibrary.meaning(of: errno)
      for file in [poller, bell] where file >= 0 { close(file) }
      throw SQOAuthError(.connectionFailed, "the HTTP client could not be started: \(reason)")
    }
    let multi: CurlMulti
    do throws(SQOAuthError) {
      multi = try CurlMulti(poller: poller)
    } catch {
      for file in [poller, bell] { close(file) }
      throw error
    }
    multiContext = Unmanaged.passUnretained(multi).toOpaque()
    self.multi = Locked(multi)
    try startThread()
    // If the app started OpenSSL earlier, OpenSSL's clean-up is registered already and runs after
    // this function.
    atexit(stopCurlEventLoop)
  }

  // MARK: For callers

  /// Starts a transfer whose continuation is already set.
  func start(_ transfer: CurlTransfer) {
    if !lone.send(transfer, on: self) { leave(.add(transfer)) }
  }

  /// Continues a transfer that paused because the app was not ready.
  func resume(_ transfer: CurlTransfer) {
    leave(.resume(transfer))
  }

  /// Ends a transfer with an error, unless it has ended already.
  func end(_ transfer: CurlTransfer, _ error: SQOAuthError) {
    leave(.end(transfer, error))
  }

  /// Moves the clock of a client's transfers ahead, and ends those past their time limit.
  func advance(_ lead: TimeLead, by duration: Duration) {
    leave(.advance(lead, duration))
  }

  private func leave(_ command: Command) {
    if inbox.withLock({ $0.leave(command) }) { ring() }
  }

  /// Wakes the thread.
  func ring() {
    eventfd_write(bell, 1)
  }

  /// Resumes the callers of ended transfers; must be called outside the lock.
  func finish(_ ended: [CurlTransfer]) {
    if ended.isEmpty { return }
    lone.ended(ended)
    for transfer in ended { transfer.finish() }
  }

  /// Stops all use of libcurl, because the process is about to end.
  ///
  /// OpenSSL frees memory that a handshake on the loop's thread would still use. Running and later
  /// requests never get a response.
  fileprivate func stop() {
    multi.withLock { $0.isStopped = true }
  }

  // MARK: The loop's thread

  private func startThread() throws(SQOAuthError) {
    var thread = pthread_t()
    let this = Unmanaged.passRetained(self)
    let code = pthread_create(&thread, nil, runCurlEventLoop, this.toOpaque())
    guard code == 0 else {
      this.release()
      for file in [poller, bell] { close(file) }
      throw SQOAuthError(
        .connectionFailed,
        "no thread could be started for the HTTP client: \(CLibrary.meaning(of: code))")
    }
    pthread_detach(thread)
  }

  fileprivate func run() -> Never {
    var events = [epoll_event](repeating: epoll_event(), count: 64)
    var timeout: Int32 = 0
    while true {
      let count = epoll_wait(poller, &events, Int32(events.count), timeout)
      let commands = takeCommands()
      let (news, deadline) = multi.withLock { multi in
        if multi.isStopped { return (multi.takeNews(), UInt64.max) }
        multi.sleepsUntil = 0
        for event in events.prefix(Int(max(count, 0))) where event.data.fd != bell {
          multi.handle(event.data.fd, event.events)
        }
        for command in commands { Self.execute(command, multi) }
        multi.advance()
        multi.sockets.applyChanges()
        multi.sleepsUntil = multi.deadline
        return (multi.takeNews(), multi.deadline)
      }
      for report in news.reports { report() }
      finish(news.ended)
      // On few cores, callers add their next requests now, and the loop sends them together.
      if !news.ended.isEmpty { sched_yield() }
      timeout = mayRest() ? Self.milliseconds(until: deadline) : 0
    }
  }

  private func takeCommands() -> [Command] {
    inbox.withLock { inbox in
      inbox.isAsleep = false
      if inbox.commands.isEmpty { return [] }
      defer { inbox.commands.removeAll() }
      return inbox.commands
    }
  }

  /// Whether the thread may wait because there is no command; if so, callers wake it from now on.
  private func mayRest() -> Bool {
    inbox.withLock { inbox in
      inbox.isAsleep = inbox.commands.isEmpty
      return inbox.isAsleep
    }
  }

  private static func execute(_ command: Command, _ multi: CurlMulti) {
    switch command {
    case .add(let transfer): multi.add(transfer)
    case .resume(let transfer): multi.resume(transfer)
    case .end(let transfer, let error): multi.end(transfer, error)
    case .advance(let lead, let duration):
      lead.skip(duration)
      multi.checkTime(TransferClock.now())
    }
  }

  /// Returns the time until a deadline, or -1 for never.
  ///
  /// It is rounded up, so that the thread does not wake too early.
  private static func milliseconds(until deadline: UInt64) -> Int32 {
    guard deadline != .max else { return -1 }
    let now = TransferClock.now()
    return deadline <= now ? 0 : Int32(clamping: (deadline - now + 999_999) / 1_000_000)
  }
}

/// The thread's function, which blocks all signals, because they are meant for the app.
private func runCurlEventLoop(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  var signals = sigset_t()
  sigfillset(&signals)
  pthread_sigmask(SIG_SETMASK, &signals, nil)
  guard let context else { return nil }
  Unmanaged<CurlEventLoop>.fromOpaque(context).takeUnretainedValue().run()
}

private func stopCurlEventLoop() {
  if case .success(let loop) = CurlEventLoop.shared { loop.stop() }
}
