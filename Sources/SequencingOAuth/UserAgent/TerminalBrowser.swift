import SQBasics

/// A text browser that has this program's terminal until it ends.
final class TerminalBrowser: Sendable {
  private let process: RunningProcess
  /// How the browser ended; it arrives when the terminal is this program's again.
  let end = OneShot<ProcessStatus>()

  /// Takes the terminal back when the browser ends, and then calls a function.
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

  /// Ends the browser, and returns when the terminal is this program's again.
  func close() async {
    process.send(.terminate)
    // It gets no longer than this, also if this task is cancelled.
    let end = ContinuousClock.now + .seconds(2)
    let waiting = Task { [status = process.status] in await status.wait(until: end) }
    if await waiting.value == nil { process.send(.kill) }
    _ = await self.end.wait()
  }
}

/// The text browser of one sign-in or logout, in whichever user agent it is started.
///
/// The task in which the user agent runs is cancelled when the answer is there. The user then still
/// reads the last page. So the sign-in itself waits for the browser's end, before anybody else uses the
/// terminal.
final class TerminalBrowserWait: Sendable {
  /// The sign-in for which the user agent of this task opens a page.
  @TaskLocal static var current: TerminalBrowserWait?

  private enum State {
    case idle
    /// A browser is being started, or runs; `nil` arrives if it could not be started.
    case started(OneShot<TerminalBrowser?>)
    case over
  }

  /// Whether the browser must come back with an answer, so that a user who leaves it has cancelled.
  let expectsRedirect: Bool
  private let state = Locked(State.idle)

  init(expectsRedirect: Bool) {
    self.expectsRedirect = expectsRedirect
  }

  /// Notes that a browser is being started; `false` if the sign-in has ended already.
  func begin(_ browser: OneShot<TerminalBrowser?>) -> Bool {
    state.withLock { state in
      if case .over = state { return false }
      state = .started(browser)
      return true
    }
  }

  /// Waits until the user leaves the browser, or until a task is done; then ends the browser.
  ///
  /// Without a browser it returns at once. If this task is cancelled, it does not wait for the user.
  func end(unlessLeft limit: @escaping @Sendable () async -> Void) async {
    let started: OneShot<TerminalBrowser?>? = state.withLock { state in
      defer { state = .over }
      guard case .started(let browser) = state else { return nil }
      return browser
    }
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
