import CSQSockets
import SQBasics
import SQLibC

/// The terminal that the user of this program works in.
struct ProgramTerminal: Sendable {
  /// The file to read from; `nil` if the terminal must be opened by its name.
  let input: Int32?
  let output: Int32

  /// Returns the terminal of standard error and input, or `nil` if another program uses it.
  ///
  /// It also returns `nil` if there is no terminal.
  static func current() -> ProgramTerminal? {
    guard isatty(2) == 1 else { return nil }
    // The system stops a background program as soon as the program reads from the terminal.
    let foreground = tcgetpgrp(2)
    guard foreground == -1 || foreground == getpgrp() else { return nil }
    if isatty(0) == 1 { return ProgramTerminal(input: 0, output: 2) }
    let named = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard named >= 0 else { return nil }
    close(named)
    return ProgramTerminal(input: nil, output: 2)
  }

  /// Prepares the terminal for another program, which has it until ``Loan/end(isReset:)``.
  func lend() -> Loan { Loan(self) }

  /// The state of the terminal and of this program while another program has the terminal.
  ///
  /// Ctrl-C then affects only the other program, as with an editor that `git` starts.
  final class Loan: Sendable {
    private let terminal: ProgramTerminal

    fileprivate init(_ terminal: ProgramTerminal) {
      self.terminal = terminal
      BeforeLoans.note(terminal.output)
    }

    /// Restores the settings and signals, unless a further program has the terminal; `isReset` also
    /// resets modes that a failed program may have left.
    func end(isReset: Bool) {
      if isReset {
        // Selects the normal screen, shows the cursor, and restores normal colors and cursor keys;
        // turns off mouse reports and bracketed paste.
        let reset = "\u{1B}[?1049l\u{1B}[?25h\u{1B}[0m\u{1B}[?1l\u{1B}>\u{1B}[?1000l\u{1B}[?2004l\r"
        Array(reset.utf8).withUnsafeBytes { _ = write(terminal.output, $0.baseAddress, $0.count) }
      }
      BeforeLoans.restore(terminal.output)
    }
  }
}

/// What was before another program got the terminal: the terminal's settings, and the handling of
/// the signals that its keyboard sends.
private enum BeforeLoans {
  private struct State {
    /// The number of other programs that use a terminal, and its settings from before the first.
    var terminals: [Int32: (loans: Int, settings: termios)] = [:]
    var interrupt = sigaction()
    var quit = sigaction()
  }

  private static let state = Locked(State())

  /// Notes the settings of a terminal, and ignores the signals, until ``restore(_:)``.
  static func note(_ terminal: Int32) {
    state.withLock { state in
      let isFirst = state.terminals.isEmpty
      if var lent = state.terminals[terminal] {
        lent.loans += 1
        state.terminals[terminal] = lent
      } else {
        var settings = termios()
        tcgetattr(terminal, &settings)
        state.terminals[terminal] = (1, settings)
      }
      guard isFirst else { return }
      sigaction(SIGINT, nil, &state.interrupt)
      sigaction(SIGQUIT, nil, &state.quit)
      signal(SIGINT, SIG_IGN)
      signal(SIGQUIT, SIG_IGN)
    }
  }

  /// Restores the settings, and the handling of the signals unless this program has changed it.
  static func restore(_ terminal: Int32) {
    state.withLock { state in
      guard var lent = state.terminals[terminal] else { return }
      lent.loans -= 1
      state.terminals[terminal] = lent.loans == 0 ? nil : lent
      if lent.loans == 0 { tcsetattr(terminal, TCSADRAIN, &lent.settings) }
      guard state.terminals.isEmpty else { return }
      if sq_is_ignored(SIGINT) != 0 { sigaction(SIGINT, &state.interrupt, nil) }
      if sq_is_ignored(SIGQUIT) != 0 { sigaction(SIGQUIT, &state.quit, nil) }
    }
  }
}
