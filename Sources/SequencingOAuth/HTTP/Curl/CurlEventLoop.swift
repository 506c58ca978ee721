import CSQCurl
import SQBasics
import SQCrypto
import SQLibC
import Synchronization

/// The only object that runs libcurl's transfers, with an event loop on a separate thread.
///
/// Callers leave commands in the inbox. The loop calls this object for commands, for ready sockets,
/// and for times that are due. This object then takes the lock that protects ``CurlMulti``, does
/// the work, and resumes the callers outside the lock.
final class CurlEventLoop: EventHandler {
  fileprivate static let instance = SharedInstance<CurlEventLoop, SQOAuthError>()

  /// The only instance, which is created on first use and works until the process ends.
  ///
  /// If the system could not provide a file descriptor or a thread, a later use tries again. In a
  /// ``ForkedCopy``, and after the app has closed the loop's descriptors, each use fails.
  static var shared: Result<CurlEventLoop, SQOAuthError> {
    Result { () throws(SQOAuthError) -> CurlEventLoop in
      if ForkedCopy.isHere { throw unusable(ForkedCopy.advice) }
      let curl = try instance.get { () throws(SQOAuthError) in try CurlEventLoop() }
      if curl.loop.hasFailed { throw unusable(EventLoop.closedAdvice) }
      return curl
    }
  }

  private static func unusable(_ advice: String) -> SQOAuthError {
    SQOAuthError(.connectionFailed, "the HTTP client cannot be used: \(advice)")
  }

  private enum Command: Sendable {
    case add(CurlTransfer)
    case resume(CurlTransfer)
    case end(CurlTransfer, SQOAuthError)
    case advance(TimeLead, Duration)
  }

  private struct Inbox {
    var commands: [Command] = []
    /// Whether the event loop was asked to call back, and has not done so yet.
    var isAnnounced = false
  }

  /// The pointer to the ``CurlMulti`` that libcurl's socket callbacks receive.
  nonisolated(unsafe) let multiContext: UnsafeMutableRawPointer
  let multi: Locked<CurlMulti>
  private let inbox = Locked(Inbox())
  /// The number of started transfers whose callers were not resumed yet.
  private let count = Atomic(0)
  let loop: EventLoop

  private init() throws(SQOAuthError) {
    OpenSSL.begin()
    guard curl_global_init(sq_global_default) == CURLE_OK else {
      throw SQOAuthError(.connectionFailed, "libcurl could not be started")
    }
    do throws(EventLoopFailure) {
      loop = try EventLoop()
    } catch {
      throw SQOAuthError(
        .connectionFailed,
        "the HTTP client could not be started: \(CLibrary.meaning(of: error.errno))")
    }
    let multi: CurlMulti
    do throws(SQOAuthError) {
      multi = try CurlMulti(loop)
    } catch {
      loop.end()
      throw error
    }
    multiContext = Unmanaged.passUnretained(multi).toOpaque()
    self.multi = Locked(multi)
    // Exit functions run in reverse order. So if the app started OpenSSL earlier, OpenSSL's
    // clean-up runs after this function.
    atexit(stopCurlEventLoop)
  }

  // MARK: For callers

  /// Starts a transfer whose continuation is already set.
  ///
  /// If no other transfer runs and this one is not watched (``CurlTransfer/isWatched``), the
  /// caller's thread sends it, because waking the loop's thread takes longer than sending a small
  /// request. The loop's thread reads the response.
  func start(_ transfer: CurlTransfer) {
    let others = count.add(1, ordering: .relaxed).oldValue
    if others == 0, !transfer.isWatched, sendHere(transfer) { return }
    leave(.add(transfer))
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
    let mustAnnounce = inbox.withLock { inbox in
      inbox.commands.append(command)
      defer { inbox.isAnnounced = true }
      return !inbox.isAnnounced
    }
    if mustAnnounce { loop.callSoon(self) }
  }

  /// Sends a transfer on this thread; returns `false` if libcurl is in use or stopped.
  private func sendHere(_ transfer: CurlTransfer) -> Bool {
    let ended = multi.withLockIfAvailable { multi -> [CurlTransfer]? in
      guard multi.isIdle, !multi.isStopped else { return nil }
      multi.add(transfer)
      return work(multi).ended
    }
    guard case .some(let ended?) = ended else { return false }
    finish(ended)
    return true
  }

  /// Resumes the callers of ended transfers; must be called outside the lock.
  private func finish(_ ended: [CurlTransfer]) {
    count.subtract(ended.count, ordering: .relaxed)
    for transfer in ended { transfer.finish() }
  }

  /// Stops all use of libcurl, because the process is about to end.
  ///
  /// At the process's end, OpenSSL frees memory that a handshake on the loop's thread would still
  /// use. Running and later requests never get a response.
  fileprivate func stop() {
    multi.withLock { $0.isStopped = true }
  }

  // MARK: On the loop's thread

  func socketsAreReady(_ sockets: ArraySlice<ReadySocket>) {
    turn { multi in
      for ready in sockets { multi.handle(ready.socket, ready.events) }
    }
  }

  func timeIsDue() {
    turn { _ in }
  }

  func isCalled() {
    let commands = takeCommands()
    turn { multi in
      for command in commands { Self.execute(command, multi) }
    }
  }

  private func takeCommands() -> [Command] {
    inbox.withLock { inbox in
      inbox.isAnnounced = false
      defer { inbox.commands.removeAll() }
      return inbox.commands
    }
  }

  /// Ends all transfers, because nothing waits for their sockets any more.
  func loopHasFailed() {
    let commands = takeCommands()
    let error = Self.unusable(EventLoop.closedAdvice)
    let news = multi.withLock { multi in
      if multi.isStopped { return multi.takeNews() }
      for command in commands {
        if case .end(let transfer, let error) = command { multi.end(transfer, error) }
        guard case .add(let transfer) = command else { continue }
        transfer.giveUp(error)
        multi.add(transfer)
      }
      for transfer in multi.active { multi.end(transfer, error) }
      return multi.takeNews()
    }
    for report in news.reports { report() }
    finish(news.ended)
  }

  /// Changes the state under the lock, does what is due, then resumes callers outside the lock.
  private func turn(_ body: (CurlMulti) -> Void) {
    let news = multi.withLock { multi in
      if multi.isStopped { return multi.takeNews() }
      body(multi)
      return work(multi)
    }
    for report in news.reports { report() }
    finish(news.ended)
    // On few cores, this lets the callers add their next requests, and the loop sends them
    // together.
    if !news.ended.isEmpty { sched_yield() }
  }

  /// Does what is due and tells the event loop what to wait for; must be called under the lock.
  private func work(_ multi: CurlMulti) -> CurlMulti.News {
    multi.advance()
    multi.sockets.applyChanges(for: self)
    loop.call(self, at: multi.deadline)
    return multi.takeNews()
  }

  private static func execute(_ command: Command, _ multi: CurlMulti) {
    switch command {
    case .add(let transfer): multi.add(transfer)
    case .resume(let transfer): multi.resume(transfer)
    case .end(let transfer, let error): multi.end(transfer, error)
    case .advance(let lead, let duration):
      lead.skip(duration)
      multi.checkTime(Monotonic.now())
    }
  }
}

private func stopCurlEventLoop() {
  // In a forked copy of the process, a thread that does not exist there may hold the lock.
  if !ForkedCopy.isHere { CurlEventLoop.instance.current?.stop() }
}
