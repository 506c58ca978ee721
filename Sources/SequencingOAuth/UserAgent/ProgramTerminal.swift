import SQBasics

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The terminal at which the user of this program sits.
struct ProgramTerminal: Sendable {
  /// The file to read from; `nil` if only the terminal's own name leads to it.
  let input: Int32?
  let output: Int32

  /// The terminal of standard error and input; `nil` if there is none, or if another program has it.
  static func current() -> ProgramTerminal? {
    guard isatty(2) == 1 else { return nil }
    // A program in the background would be stopped by its first look at the keys.
    let foreground = tcgetpgrp(2)
    guard foreground == -1 || foreground == getpgrp() else { return nil }
    if isatty(0) == 1 { return ProgramTerminal(input: 0, output: 2) }
    let named = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard named >= 0 else { return nil }
    close(named)
    return ProgramTerminal(input: nil, output: 2)
  }

  /// Prepares the terminal for another program, which reads its keys until ``Loan/end(isReset:)``.
  func lend() -> Loan { Loan(self) }

  /// The state of the terminal and of this program while another program has the terminal.
  ///
  /// As for an editor that `git` starts, Ctrl-C is for the other program alone.
  final class Loan: Sendable {
    private let terminal: ProgramTerminal
    private let settings: termios

    fileprivate init(_ terminal: ProgramTerminal) {
      var settings = termios()
      tcgetattr(terminal.output, &settings)
      self.terminal = terminal
      self.settings = settings
      KeySignals.ignore()
    }

    /// Restores everything; with `isReset`, also what a program leaves behind that was killed.
    func end(isReset: Bool) {
      if isReset {
        // The normal screen, the cursor, the normal colours and keys, no mouse, no marked pastes.
        let reset = "\u{1B}[?1049l\u{1B}[?25h\u{1B}[0m\u{1B}[?1l\u{1B}>\u{1B}[?1000l\u{1B}[?2004l\r"
        Array(reset.utf8).withUnsafeBytes { _ = write(terminal.output, $0.baseAddress, $0.count) }
      }
      var settings = settings
      tcsetattr(terminal.output, TCSADRAIN, &settings)
      KeySignals.restore()
    }
  }
}

/// The signals that keys send to all programs of a terminal.
private enum KeySignals {
  private struct State {
    /// How many other programs have a terminal of this one.
    var loans = 0
    var interrupt = sigaction()
    var quit = sigaction()
  }

  private static let state = Locked(State())

  /// Ignores the signals until ``restore()``.
  static func ignore() {
    state.withLock { state in
      state.loans += 1
      guard state.loans == 1 else { return }
      sigaction(SIGINT, nil, &state.interrupt)
      sigaction(SIGQUIT, nil, &state.quit)
      signal(SIGINT, SIG_IGN)
      signal(SIGQUIT, SIG_IGN)
    }
  }

  /// Handles the signals as before.
  static func restore() {
    state.withLock { state in
      state.loans -= 1
      guard state.loans == 0 else { return }
      sigaction(SIGINT, &state.interrupt, nil)
      sigaction(SIGQUIT, &state.quit, nil)
    }
  }
}
