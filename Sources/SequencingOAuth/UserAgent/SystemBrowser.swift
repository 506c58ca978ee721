import SQBasics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Opens pages in the user's own browser, as a separate process.
///
/// It runs a command with the URL as the last argument: the command that the app gave, or else those
/// in `$BROWSER`, or else `xdg-open` and its like. `$BROWSER` is a list with colons between its
/// entries, which are tried in turn until one does not fail. Each is split into words as in a shell,
/// `%s` stands for the URL, and a `&` at the end is left out. What a command of the app or the user
/// prints goes to standard error; what another browser prints is discarded.
///
/// A text browser that the app or the user names, such as `w3m`, gets the terminal of standard error,
/// as an editor does that `git` starts. The sign-in then ends only when the user has left the browser,
/// so that both do not use the terminal at once. A user who leaves it without an answer has cancelled
/// the sign-in. At the time limit, or if the app cancels the sign-in, the browser is ended. Meanwhile
/// Ctrl-C is for the browser alone. ``willUseTerminal`` and ``didUseTerminal`` let an app keep away
/// from the terminal.
///
/// It throws ``SQOAuthError/Code/browserUnavailable`` if no command can be run, if all fail, or if the
/// session has no display and the user names no command.
public struct SystemBrowser: UserAgent {
  /// The SDK calls it before a text browser gets the terminal, and waits for its return.
  ///
  /// From then on the app must neither read standard input nor write to the terminal.
  public var willUseTerminal: @Sendable () async -> Void = {}
  /// The SDK calls it when a text browser has ended, and the terminal's settings are as before.
  public var didUseTerminal: @Sendable () async -> Void = {}
  /// Finds the terminal that a text browser gets; a test has one of its own.
  var terminal: @Sendable () -> ProgramTerminal? = ProgramTerminal.current
  /// Finds the environment in which the user names a browser; a test has one of its own.
  var environment: @Sendable () -> [String: String] = { ProcessInfo.processInfo.environment }
  private let command: BrowserCommand?

  /// Uses the user's default browser.
  public init() {
    command = nil
  }

  /// Uses a command, given as a program and its arguments; the program is looked up in `PATH`.
  public init(command: [String]) {
    self.command = BrowserCommand(words: command, hasPlaceholder: false)
  }

  /// Whether this session seems to have a browser: a command in `$BROWSER` can be run, or there is a
  /// display and one of the system's commands that open pages.
  ///
  /// If it is `false`, users cannot sign in here by a browser of this machine. Let them sign in on
  /// another device then, by ``SQOAuth/signInWithDeviceCode(show:)``, or paste the redirect.
  public static var isAvailable: Bool {
    let browser = SystemBrowser()
    return browser.usable(browser.environment()) != nil
  }

  /// The error that ``open(_:)`` would throw here for each page; `nil` while ``isAvailable`` is
  /// `true`.
  ///
  /// Its message says why, for example that the command in `$BROWSER` is not found. An app that lets
  /// the user sign in another way can tell the user so.
  public static var unavailability: SQOAuthError? {
    let browser = SystemBrowser()
    return browser.unavailability(browser.environment())
  }

  /// Whether the browser that opens next is a text browser, which takes the terminal.
  ///
  /// The app then need not offer to take a pasted redirect: nobody reads the terminal meanwhile.
  public var takesTerminal: Bool {
    let environment = environment()
    return usable(environment)?.isTextBrowser(environment) ?? false
  }

  /// Starts the browser and returns when its command has ended, which may be at once.
  ///
  /// If the task is cancelled, this returns and the browser stays open. Only a text browser that has
  /// the terminal is ended.
  public func open(_ url: URL) async throws {
    let environment = environment()
    var failures: [String] = []
    for command in try commands(environment) {
      guard let failure = try await run(command, url, environment) else { return }
      try Task.checkCancellation()
      // The system's commands all start the same browser, so the first reason is enough.
      if command.isNamed || failures.isEmpty { failures.append(failure) }
    }
    throw SQOAuthError(.browserUnavailable, failures.joined(separator: ", and "))
  }

  // MARK: Commands

  /// The commands in the order in which they are tried; at least one.
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
        + "; set BROWSER to a command, such as echo, which prints the address, or give the SDK a "
        + "UserAgent of your own, in its ClientEnvironment")
  }

  /// The first command whose program can be run here.
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

  /// Why a command cannot be run here; `nil` if it can.
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

  /// Runs a command to its end; returns the reason if no browser has opened.
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
    let started = OneShot<TerminalBrowser?>()
    guard wait?.begin(started) != false else { throw CancellationError() }
    await willUseTerminal()
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
      // A sign-in waits for the user, who still reads the last page.
      if wait == nil { await browser.close() }
      throw CancellationError()
    }
    guard status == .exited(0) else { return command.failure(status) }
    guard wait?.expectsRedirect != true else {
      throw SQOAuthError(
        .cancelled,
        "the text browser \"\(command.program.printable)\" was left before the sign-in was done")
    }
    return nil
  }
}

extension BrowserCommand {
  /// Why no browser has opened, from how the command ended.
  fileprivate func failure(_ status: ProcessStatus) -> String {
    // The statuses of xdg-open: it found no browser, or the browser failed.
    if !isNamed, program == "xdg-open", status == .exited(3) { return "no browser is installed" }
    guard isNamed else { return "the browser failed: \"\(program)\" \(status)" }
    return "the browser command \"\(program.printable)\" \(status)"
  }
}
