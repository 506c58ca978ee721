import SequencingOAuth
import Synchronization

/// The terminal while the program has lent it to a text browser: nothing is read or drawn then.
enum TerminalLoan {
  /// The screen that is drawn on the terminal, if there is one.
  struct Screen: Sendable {
    let leave: @MainActor @Sendable () -> Void
    let enter: @MainActor @Sendable () -> Void
  }

  private static let isLent = Atomic(false)
  /// Held while a part of the program reads standard input.
  private static let reading = Mutex(())
  private static let screen = Mutex<Screen?>(nil)

  /// Sets the screen that is left before the terminal is lent, and entered again afterwards.
  static func use(_ screen: Screen?) {
    self.screen.withLock { $0 = screen }
  }

  /// Gives the terminal away, when nobody in the program reads it any more.
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

  /// Lets a part of the program read standard input for a moment; returns `false` if the terminal is
  /// lent.
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
  /// The browser, for which the program keeps away from the terminal as long as it has that.
  var lentTheTerminal: SystemBrowser {
    var browser = self
    browser.willUseTerminal = { await TerminalLoan.begin() }
    browser.didUseTerminal = { await TerminalLoan.end() }
    return browser
  }
}
