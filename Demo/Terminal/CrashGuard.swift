import Glibc

/// Gives the terminal back when the program crashes while a screen is drawn.
enum CrashGuard {
  /// The alternate screen, and no cursor.
  static let enterSequence = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[H\u{1B}[2J"
  /// The cursor, the normal colours, and the screen from before.
  static var leaveSequence: StaticString { "\u{1B}[0m\u{1B}[?25h\u{1B}[?1049l" }

  private static let signals = [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV]

  static func install() {
    signals.forEach { signal($0, restoreTerminal) }
  }

  static func remove() {
    signals.forEach { signal($0, SIG_DFL) }
  }
}

/// Runs inside a signal handler: only calls that POSIX allows there, no memory, no locks.
///
/// It turns the ordinary settings on again in place of restoring the saved ones, which would have
/// to be a global variable.
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
