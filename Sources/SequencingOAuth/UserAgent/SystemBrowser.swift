import SQBasics
public import SQFoundation

/// A user agent that opens pages in the user's own browser, as a separate process.
///
/// It runs a command that gets the URL, usually as the last argument: the app's command if there is
/// one, otherwise a command in `$BROWSER`, and otherwise `xdg-open` or a similar command.
/// `$BROWSER` is a list with colons between its entries. They are tried in order until one
/// succeeds. Each entry is split into words as in a shell, `%s` is replaced by the URL, and an `&`
/// at the end is removed. The output of a command that the app or the user chose goes to standard
/// error; the output of other browsers is discarded.
///
/// A text browser that the app or the user chose, such as `w3m`, gets the terminal of standard
/// error, like an editor that `git` starts. In this case, the sign-in ends only after the user has
/// left the browser, so that the app and the browser do not use the terminal at the same time. A
/// user who leaves the browser without a response has cancelled the sign-in. The SDK ends the
/// browser at the time limit, or if the app cancels the sign-in. Ctrl-C affects only the browser
/// while it runs. With ``willUseTerminal`` and ``didUseTerminal``, an app can avoid using the
/// terminal in the meantime.
///
/// ``open(_:)`` throws ``SQOAuthError/Code/browserUnavailable`` if no command can be run, if all
/// commands fail, or if the user chose no command and the system has none, for example because
/// there is no display.
public struct SystemBrowser: UserAgent {
  /// A closure that the SDK calls, and waits for, before a text browser gets the terminal.
  ///
  /// After this call, the app must neither read standard input nor write to the terminal. If the
  /// sign-in ends before the closure returns, no browser is started.
  public var willUseTerminal: @Sendable () async -> Void = {}
  /// A closure that the SDK calls after a text browser has ended and the terminal was restored.
  ///
  /// The sign-in ends only after it has returned.
  public var didUseTerminal: @Sendable () async -> Void = {}
  /// A function that finds the terminal for a text browser; a test replaces it.
  var terminal: @Sendable () -> ProgramTerminal? = ProgramTerminal.current
  /// A function that returns the environment variables; a test replaces it.
  var environment: @Sendable () -> [String: String] = { ProcessInfo.processInfo.environment }
  private let command: BrowserCommand?

  /// Creates a user agent that uses the user's default browser.
  public init() {
    command = nil
  }

  /// Creates a user agent with a command: a program, found in `PATH`, and arguments.
  public init(command: [String]) {
    self.command = BrowserCommand(words: command, hasPlaceholder: false)
  }

  /// Whether there seems to be a browser that can be opened.
  ///
  /// It is `true` if a command in `$BROWSER` can be run, or if the user chose none and the system
  /// has a command that opens pages in a window. If it is `false`, users cannot sign in with a
  /// browser on this machine. Let them sign in on another device, by
  /// ``AccountOperations/signInWithDeviceCode(show:)``, or paste the redirect.
  public static var isAvailable: Bool {
    let browser = SystemBrowser()
    return browser.usable(browser.environment()) != nil
  }

  /// The error that ``open(_:)`` would throw for any page; `nil` if ``isAvailable`` is `true`.
  ///
  /// Its message gives the reason, for example that the command in `$BROWSER` was not found. An app
  /// with another way to sign in can show the reason to the user.
  public static var unavailability: SQOAuthError? {
    let browser = SystemBrowser()
    return browser.unavailability(browser.environment())
  }

  /// Whether the next browser to open is a text browser in the terminal.
  ///
  /// If so, the app need not offer to accept a pasted redirect, because the app cannot read the
  /// terminal while the browser runs.
  public var takesTerminal: Bool {
    let environment = environment()
    return usable(environment)?.isTextBrowser(environment) ?? false
  }

  /// Starts the browser and returns when its command has ended, perhaps immediately.
  ///
  /// If the task is cancelled, the method throws and the browser stays open. Only a text browser
  /// in the terminal is ended.
  public func open(_ url: URL) async throws {
    let environment = environment()
    var failures: [String] = []
    for command in try commands(environment) {
      guard let failure = try await run(command, url, environment) else { return }
      try Task.checkCancellation()
      // The system's commands all start the same browser, so the first reason is sufficient.
      if command.isNamed || failures.isEmpty { failures.append(failure) }
    }
    throw SQOAuthError(.browserUnavailable, failures.joined(separator: ", and "))
  }

  // MARK: Commands

  /// Returns the commands in the order to try them; there is at least one.
  func commands(_ environment: [String: String]) throws(SQOAuthError) -> [BrowserCommand] {
    if let command {
      guard !command.program.isEmpty else {
        throw SQOAuthError(.browserUnavailable, "the browser command is empty")
      }
      return [command]
    }
    let named = BrowserCommand.named(environment)
    guard named.isEmpty else { return named }
    let system = BrowserCommand.system(environment)
    guard system.isEmpty else { return system }
    throw SQOAuthError(
      .browserUnavailable,
      (BrowserCommand.hasDisplay(environment)
        ? "no browser is installed" : "there is no display to open a browser on")
        + "; set BROWSER to a command, such as echo to print the address, or give the SDK a "
        + "UserAgent of your own, in its ClientEnvironment")
  }

  /// Returns the first command that can be run.
  private func usable(_ environment: [String: String]) -> BrowserCommand? {
    (try? commands(environment))?.first { obstacle(to: $0, environment) == nil }
  }

  func unavailability(_ environment: [String: String]) -> SQOAuthError? {
    do throws(SQOAuthError) {
      let obstacles = try commands(environment).map { obstacle(to: $0, environment) }
      guard !obstacles.contains(nil) else { return nil }
      return SQOAuthError(
        .browserUnavailable, obstacles.compactMap(\.self).joined(separator: ", and "))
    } catch {
      return error
    }
  }

  /// Returns why a command cannot be run; `nil` if it can.
  private func obstacle(
    to command: BrowserCommand, _ environment: [String: String]
  ) -> String? {
    if let reason = Executable.obstacle(to: command.program, in: environment) {
      return "the browser command \"\(command.program.printable)\" cannot be run: \(reason)"
    }
    guard command.isTextBrowser(environment), terminal() == nil else { return nil }
    return Self.needsTerminal(command)
  }

  private static func needsTerminal(_ command: BrowserCommand) -> String {
    "the text browser \"\(command.program.printable)\" needs a terminal"
  }

  /// Runs a command until it ends; returns the reason if no browser has opened.
  private func run(
    _ command: BrowserCommand, _ url: URL, _ environment: [String: String]
  ) async throws -> String? {
    var words = command.words(for: url)
    if !command.isNamed, let path = Executable.path(of: command.program, in: environment) {
      words[0] = path
    }
    do {
      if command.isTextBrowser(environment) { return try await runInTerminal(command, words) }
      let process = try ChildProcess.start(
        words, command.isNamed ? .shown : .detached, environment: command.environmentChanges)
      guard let status = await process.status.value() else { throw CancellationError() }
      return status == .exited(0) ? nil : command.failure(status)
    } catch let error as SpawnError {
      return "the browser command \"\(command.program.printable)\" cannot be run: \(error)"
    }
  }

  /// Runs a text browser in the terminal until the user leaves it.
  private func runInTerminal(_ command: BrowserCommand, _ words: [String]) async throws -> String? {
    guard let terminal = terminal() else {
      return Self.needsTerminal(command)
    }
    let wait = TerminalBrowserWait.current
    wait?.prepare()
    await willUseTerminal()
    let started = OneShot<TerminalBrowser?>()
    // The sign-in does not wait for the app's closure, so it may have ended meanwhile.
    guard wait?.begin(started) != false else {
      await didUseTerminal()
      throw CancellationError()
    }
    let loan = terminal.lend()
    let browser: TerminalBrowser
    do {
      let process = try ChildProcess.start(words, .terminal(terminal))
      browser = TerminalBrowser(process, loan, didEnd: didUseTerminal)
    } catch {
      loan.end(isReset: false)
      await didUseTerminal()
      started.resolve(nil)
      throw error
    }
    started.resolve(browser)
    guard let status = await browser.end.value() else {
      // During a sign-in, the SDK ends the browser later, after the user has read the last page.
      if wait == nil { await browser.close() }
      throw CancellationError()
    }
    guard status == .exited(0) else { return command.failure(status) }
    guard wait?.expectsRedirect != true else {
      throw SQOAuthError(
        .cancelled,
        "the user left the text browser \"\(command.program.printable)\" before the sign-in or the "
          + "logout ended")
    }
    return nil
  }
}

extension BrowserCommand {
  /// Returns why no browser has opened, from the status of the command.
  fileprivate func failure(_ status: ProcessStatus) -> String {
    // The exit statuses of xdg-open: 3 if it found no browser, others if the browser failed.
    if !isNamed, program == "xdg-open", status == .exited(3) { return "no browser is installed" }
    guard isNamed else { return "the browser failed: \"\(program)\" \(status)" }
    return "the browser command \"\(program.printable)\" \(status)"
  }
}
