import Glibc

/// The terminal while a screen is drawn on it: keys arrive one by one and are not shown.
///
/// ``leave()`` restores the earlier content; so does a crash of the program.
final class RawTerminal {
  private static let input: Int32 = 0
  private static let output = TextStream(descriptor: 1)

  private var before = termios()
  private var isEntered = false
  private var lastFrame = ""

  /// Whether standard input and output are a terminal on which a screen can be drawn.
  static func isAvailable(environment: [String: String]) -> Bool {
    isatty(input) == 1 && output.isTerminal && Appearance.canDraw(environment: environment)
  }

  /// The current number of columns and rows.
  var size: (columns: Int, rows: Int) { Self.output.size }

  /// Saves the terminal's settings and switches to the screen.
  func enter() {
    guard !isEntered else { return }
    isEntered = true
    tcgetattr(Self.input, &before)
    CrashGuard.install()
    var raw = before
    // Without ISIG, Ctrl-C and Ctrl-Z are keys, so the program can leave the screen first.
    raw.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
    raw.c_iflag &= ~tcflag_t(IXON | ICRNL)
    tcsetattr(Self.input, TCSAFLUSH, &raw)
    try? Self.output.write(CrashGuard.enterSequence)
    lastFrame = ""
  }

  /// Restores the terminal.
  func leave() {
    guard isEntered else { return }
    isEntered = false
    try? Self.output.write("\(CrashGuard.leaveSequence)")
    tcsetattr(Self.input, TCSAFLUSH, &before)
    CrashGuard.remove()
  }

  /// Stops the program as Ctrl-Z does; when it continues, switches to the screen again.
  func suspend() {
    leave()
    // Send it to the process: the threads of the cooperative pool block signals.
    kill(getpid(), SIGTSTP)
    // Another thread gets the signal, so it takes a moment until all threads stop.
    usleep(50_000)
    enter()
  }

  /// Draws lines from the top, each over the earlier content, so that nothing flickers.
  ///
  /// An unchanged frame is drawn again only with `anyway`.
  func draw(_ lines: [Line], _ colours: Appearance.Colours, anyway: Bool) {
    guard isEntered else { return }
    let columns = size.columns
    let rows = lines.map { $0.row(colours, columns: columns) }
    let frame = "\u{1B}[H" + rows.joined(separator: "\r\n") + "\u{1B}[J"
    guard anyway || frame != lastFrame else { return }
    lastFrame = frame
    try? Self.output.write(frame)
  }
}
