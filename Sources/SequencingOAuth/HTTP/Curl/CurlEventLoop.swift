import Basics
import CCurl
import Glibc
import Synchronization

/// The one event loop of the process: a thread that waits on every connection's socket.
///
/// Callers put what they want into the inbox and ring; the thread takes the lock of ``CurlMulti``,
/// does what lies there and what the sockets bring, and resumes the callers outside the lock.
///
/// A request that runs alone takes a shorter way, because waking two threads costs more than a
/// small request: its caller sends it on the spot and, where the last one alone was answered within
/// ``CallersPatience``, waits that long itself. Only then is it left to the thread.
final class CurlEventLoop: Sendable {
  /// Started when it is first used, and running until the process ends.
  static let shared = Result { () throws(SQOAuthError) in try CurlEventLoop() }

  private enum Command: Sendable {
    case add(CurlTransfer)
    case resume(CurlTransfer)
    case end(CurlTransfer, SQOAuthError)
  }

  private struct Inbox {
    var commands: [Command] = []
    /// Transfers that were started and whose callers were not yet told of their end.
    var transferCount = 0
    /// Whether the thread waits, or is about to, and nobody has rung since.
    var isAsleep = false

    /// Leaves a command; says whether the bell must be rung for it.
    mutating func leave(_ command: Command) -> Bool {
      commands.append(command)
      defer { isAsleep = false }
      return isAsleep
    }
  }

  /// What libcurl's socket callbacks get.
  nonisolated(unsafe) let multiContext: UnsafeMutableRawPointer
  private let multi: Locked<CurlMulti>
  private let inbox = Locked(Inbox())
  private let poller: Int32
  private let bell: Int32

  private init() throws(SQOAuthError) {
    OpenSSL.begin()
    poller = epoll_create1(Int32(EPOLL_CLOEXEC))
    bell = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    // Edge-triggered, the bell needs no reading: every write wakes the thread once.
    var event = epoll_event(
      events: EPOLLIN.rawValue | EPOLLET.rawValue, data: epoll_data_t(fd: bell))
    guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK,
      epoll_ctl(poller, EPOLL_CTL_ADD, bell, &event) == 0
    else {
      throw SQOAuthError(.connectionFailed, "libcurl could not be started")
    }
    let multi = try CurlMulti(poller: poller)
    multiContext = Unmanaged.passUnretained(multi).toOpaque()
    self.multi = Locked(multi)
    try startThread()
    // Where the app has begun OpenSSL before, its clean-up is registered and runs after this.
    atexit(stopCurlEventLoop)
  }

  // MARK: For callers

  /// Sends a transfer off; its continuation must be in place.
  func start(_ transfer: CurlTransfer) {
    let isAlone = inbox.withLock { inbox in
      inbox.transferCount += 1
      return inbox.transferCount == 1
    }
    if !isAlone || transfer.isWatched || !startAlone(transfer) { leave(.add(transfer)) }
  }

  /// Lets a transfer go on that halted because the app was not ready.
  func resume(_ transfer: CurlTransfer) {
    leave(.resume(transfer))
  }

  /// Ends a transfer, unless it has ended by itself.
  func end(_ transfer: CurlTransfer, _ error: SQOAuthError) {
    leave(.end(transfer, error))
  }

  private func leave(_ command: Command) {
    if inbox.withLock({ $0.leave(command) }) { ring() }
  }

  private func ring() {
    eventfd_write(bell, 1)
  }

  /// Sends a transfer from this thread and, if that promises to be quick, sees it through.
  ///
  /// - Returns: `false` when somebody else is at work.
  private func startAlone(_ transfer: CurlTransfer) -> Bool {
    let ended = multi.withLockIfAvailable { multi in
      if multi.isStopped { return [CurlTransfer]() }
      multi.addAlone(transfer, patience: CallersPatience.nanoseconds.load(ordering: .relaxed))
      let ended = multi.takeUnwatched()
      if multi.deadline < multi.sleepsUntil || multi.hasNews {
        multi.sleepsUntil = 0
        ring()
      }
      return ended
    }
    guard let ended else { return false }
    finish(ended)
    return true
  }

  private func finish(_ ended: [CurlTransfer]) {
    if ended.isEmpty { return }
    inbox.withLock { $0.transferCount -= ended.count }
    for transfer in ended { transfer.finish() }
  }

  /// Touches libcurl no more, for the rest of the process's life.
  ///
  /// The process is about to end, and OpenSSL frees what a handshake on the loop's thread would
  /// still use. Requests that run or come are never answered.
  fileprivate func stop() {
    multi.withLock { $0.isStopped = true }
  }

  // MARK: The loop's thread

  private func startThread() throws(SQOAuthError) {
    var thread = pthread_t()
    let this = Unmanaged.passRetained(self)
    guard pthread_create(&thread, nil, runCurlEventLoop, this.toOpaque()) == 0 else {
      this.release()
      throw SQOAuthError(.connectionFailed, "no thread could be started for the HTTP client")
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
        multi.sleepsUntil = multi.deadline
        return (multi.takeNews(), multi.deadline)
      }
      for report in news.reports { report() }
      finish(news.ended)
      // Where cores are few, callers leave their next requests now, to be sent together.
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

  /// Whether there is nothing to do; from then on callers ring.
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

private func stopCurlEventLoop() {
  if case .success(let loop) = CurlEventLoop.shared { loop.stop() }
}
