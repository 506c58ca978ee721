import Glibc

/// The terminal while a screen is drawn on it: keys come one by one and are not echoed.
///
/// What was there before comes back with ``leave()``, and also when the program crashes.
final class RawTerminal {
  private static let input: Int32 = 0
  private static let output = TextStream(descriptor: 1)

  private var before = termios()
  private var isEntered = false
  private var lastFrame = ""

  /// Whether both ends are a terminal that a screen can be drawn on.
  static func isAvailable(environment: [String: String]) -> Bool {
    isatty(input) == 1 && output.isTerminal && Appearance.canDraw(environment: environment)
  }

  /// The columns and rows at this moment.
  var size: (columns: Int, rows: Int) { Self.output.size }

  /// Takes the terminal over.
  func enter() {
    guard !isEntered else { return }
    isEntered = true
    tcgetattr(Self.input, &before)
    CrashGuard.install()
    var raw = before
    // ISIG too: Ctrl-C and Ctrl-Z come as keys, so that the screen can be left in order.
    raw.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
    raw.c_iflag &= ~tcflag_t(IXON | ICRNL)
    tcsetattr(Self.input, TCSAFLUSH, &raw)
    try? Self.output.write(CrashGuard.enterSequence)
    lastFrame = ""
  }

  /// Gives the terminal back as it was.
  func leave() {
    guard isEntered else { return }
    isEntered = false
    try? Self.output.write("\(CrashGuard.leaveSequence)")
    tcsetattr(Self.input, TCSAFLUSH, &before)
    CrashGuard.remove()
  }

  /// Stops the program as Ctrl-Z does, and takes the terminal over again when it goes on.
  func suspend() {
    leave()
    // To the process: the threads of the cooperative pool have their signals blocked.
    kill(getpid(), SIGTSTP)
    // Another thread takes the signal, so it is a moment until all of them stand still.
    usleep(50_000)
    enter()
  }

  /// Draws lines from the top; line by line over what is there, so that nothing flickers.
  ///
  /// An unchanged frame is drawn again only where `anyway` asks for it.
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
