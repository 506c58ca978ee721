import SQBasics
import SequencingOAuth
import Synchronization

/// The use of the terminal by a text browser; meanwhile the program does not read or draw.
enum TerminalLoan {
  /// The functions that leave and enter a screen on the terminal.
  struct Screen: Sendable {
    let leave: @MainActor @Sendable () -> Void
    let enter: @MainActor @Sendable () -> Void
  }

  private static let isLent = Atomic(false)
  /// A lock that is held while a part of the program reads standard input.
  private static let reading = Locked(())
  private static let screen = Locked<Screen?>(nil)

  /// Sets the screen that the program leaves before each loan and enters again after it.
  static func use(_ screen: Screen?) {
    self.screen.withLock { $0 = screen }
  }

  /// Lends the terminal as soon as no part of the program reads it any more.
  static func begin() async {
    isLent.store(true, ordering: .sequentiallyConsistent)
    reading.withLock { _ in }
    await screen.withLock(\.self)?.leave()
  }

  /// Takes the terminal back.
  static func end() async {
    await screen.withLock(\.self)?.enter()
    isLent.store(false, ordering: .sequentiallyConsistent)
  }

  /// Lets a part of the program read standard input for a short time.
  ///
  /// Returns `false` if the terminal is lent.
  static func read(_ body: () -> Void) -> Bool {
    guard !isLent.load(ordering: .sequentiallyConsistent) else { return false }
    return reading.withLock { _ in
      guard !isLent.load(ordering: .sequentiallyConsistent) else { return false }
      body()
      return true
    }
  }
}

extension SystemBrowser {
  /// A copy of this browser; while it uses the terminal, no other part of the program does.
  var lentTheTerminal: SystemBrowser {
    var browser = self
    browser.willUseTerminal = { await TerminalLoan.begin() }
    browser.didUseTerminal = { await TerminalLoan.end() }
    return browser
  }
}
