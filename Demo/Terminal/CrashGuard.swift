import SQLibC

/// A guard that restores the terminal if the program crashes while a screen is drawn.
enum CrashGuard {
  /// The control sequence that switches to the alternate screen and hides the cursor.
  static let enterSequence = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[H\u{1B}[2J"
  /// The control sequence that restores the cursor, the colors and the previous screen.
  static var leaveSequence: StaticString { "\u{1B}[0m\u{1B}[?25h\u{1B}[?1049l" }

  private static let signals = [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV]

  static func install() {
    signals.forEach { signal($0, restoreTerminal) }
  }

  static func remove() {
    signals.forEach { signal($0, SIG_DFL) }
  }
}

/// Restores the terminal in a signal handler, with calls that POSIX allows there.
///
/// It uses no heap memory and no locks.
///
/// It sets normal settings, because the saved settings would need a global variable.
private func restoreTerminal(_ number: Int32) {
  var settings = termios()
  if tcgetattr(0, &settings) == 0 {
    settings.c_lflag |= tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
    settings.c_iflag |= tcflag_t(IXON | ICRNL)
    tcsetattr(0, TCSANOW, &settings)
  }
  let sequence = CrashGuard.leaveSequence
  _ = write(1, sequence.utf8Start, sequence.utf8CodeUnitCount)
  signal(number, SIG_DFL)
  raise(number)
}
