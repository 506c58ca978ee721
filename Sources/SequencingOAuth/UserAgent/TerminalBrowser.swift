import SQBasics

/// A text browser that uses this program's terminal until it ends.
final class TerminalBrowser: Sendable {
  private let process: RunningProcess
  /// The status of the ended browser; it arrives when this program has the terminal again.
  let end = OneShot<ProcessStatus>()

  /// Creates the browser from its running process; after the process has ended, the terminal is
  /// restored and then `didEnd` is called.
  init(
    _ process: RunningProcess, _ loan: ProgramTerminal.Loan,
    didEnd: @escaping @Sendable () async -> Void
  ) {
    self.process = process
    Task { [end] in
      let status = await process.status.wait()
      loan.end(isReset: status != .exited(0))
      await didEnd()
      end.resolve(status)
    }
  }

  /// Ends the browser, and returns when this program has the terminal again.
  func close() async {
    process.send(.terminate)
    // The wait is in a separate task, so that cancelling this task does not shorten it.
    let end = ContinuousClock.now + .seconds(2)
    let waiting = Task { [status = process.status] in await status.wait(until: end) }
    if await waiting.value == nil { process.send(.kill) }
    _ = await self.end.wait()
  }
}

/// The text browser of one sign-in or logout, started by any user agent.
///
/// The task of the user agent is cancelled when the response arrives, but the user is still reading
/// the last page. So the sign-in itself waits for the end of the browser, before any other part of
/// the program uses the terminal.
final class TerminalBrowserWait: Sendable {
  /// The text browser of the sign-in in the current task.
  @TaskLocal static var current: TerminalBrowserWait?

  private enum State {
    case idle
    /// The app is making the terminal ready for a browser.
    case preparing
    /// A browser is starting or running; the value is `nil` if it could not be started.
    case started(OneShot<TerminalBrowser?>)
    case over
  }

  /// Whether the sign-in needs a redirect, so that leaving the browser early cancels the sign-in.
  let expectsRedirect: Bool
  private let state = Locked(State.idle)
  /// The first browser that is starting; `nil` if the sign-in has ended before.
  private let first = OneShot<OneShot<TerminalBrowser?>?>()

  init(expectsRedirect: Bool) {
    self.expectsRedirect = expectsRedirect
  }

  /// Records that the app is making the terminal ready; ``begin(_:)`` follows.
  func prepare() {
    state.withLock { if case .idle = $0 { $0 = .preparing } }
  }

  /// Whether the app is making the terminal ready for a browser, which has not started yet.
  var isPreparing: Bool {
    state.withLock { if case .preparing = $0 { true } else { false } }
  }

  /// Records that a browser is starting; returns `false` if the sign-in has already ended.
  func begin(_ browser: OneShot<TerminalBrowser?>) -> Bool {
    let begins = state.withLock { state in
      if case .over = state { return false }
      state = .started(browser)
      return true
    }
    if begins { first.resolve(browser) }
    return begins
  }

  /// Waits for the start of a browser; returns `false` if it fails, or if the sign-in ends first.
  func hasStarted() async -> Bool {
    await first.wait()?.wait() != nil
  }

  /// Waits until the user leaves the browser or a closure returns; then ends the browser.
  ///
  /// If there is no browser, it returns immediately. If this task is cancelled, it does not wait
  /// for the user.
  func end(unlessLeft limit: @escaping @Sendable () async -> Void) async {
    let started: OneShot<TerminalBrowser?>? = state.withLock { state in
      defer { state = .over }
      guard case .started(let browser) = state else { return nil }
      return browser
    }
    first.resolve(nil)
    guard let browser = await started?.wait() else { return }
    let closing = Task {
      await limit()
      guard !Task.isCancelled else { return }
      await browser.close()
    }
    if await browser.end.value() == nil { await browser.close() }
    closing.cancel()
    await closing.value
  }
}
