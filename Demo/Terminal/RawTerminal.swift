import SQLibC

/// A terminal with a drawn screen; keys arrive one by one and are not shown.
///
/// ``leave()`` restores the previous content. If the program crashes, ``CrashGuard`` restores it.
final class RawTerminal {
  private static let input: Int32 = 0
  private static let output = TextStream(descriptor: 1)

  private var before = termios()
  private var isEntered = false
  /// The current content of the screen; `nil` if it is not known.
  private var shown: Frame?

  /// The content of a screen, and its size.
  private struct Frame {
    let columns: Int
    let rows: Int
    /// The row where each line begins, and the text that draws the line.
    var lines: [(row: Int, text: String)] = []
    var end = 1

    init(_ lines: [Line], _ colours: Appearance.Colours, columns: Int, rows: Int) {
      (self.columns, self.rows) = (columns, rows)
      for line in lines {
        self.lines.append((end, line.row(colours, columns: columns)))
        end += line.height(columns)
      }
    }

    /// Returns the text that draws this frame over an earlier frame, with only the changed lines.
    func changes(since before: Frame?) -> String {
      guard let before, (before.columns, before.rows, before.end) == (columns, rows, end),
        before.lines.map(\.row) == lines.map(\.row)
      else {
        return "\u{1B}[H" + lines.map(\.text).joined(separator: "\r\n") + "\u{1B}[J"
      }
      return zip(before.lines, lines).filter { $0.text != $1.text }
        .map { "\u{1B}[\($1.row);1H\($1.text)" }.joined()
    }
  }

  /// Returns whether standard input and output are a terminal that can show a screen.
  static func isAvailable(environment: [String: String]) -> Bool {
    isatty(input) == 1 && output.isTerminal && Appearance.canDraw(environment: environment)
  }

  /// The current number of columns and rows.
  var size: (columns: Int, rows: Int) { Self.output.size }

  /// Saves the terminal's settings and switches to the alternate screen.
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
    shown = nil
  }

  /// Restores the terminal.
  func leave() {
    guard isEntered else { return }
    isEntered = false
    try? Self.output.write("\(CrashGuard.leaveSequence)")
    tcsetattr(Self.input, TCSAFLUSH, &before)
    CrashGuard.remove()
  }

  /// Stops the program like Ctrl-Z and, when it continues, switches to the alternate screen again.
  func suspend() {
    leave()
    // Send the signal to the process, because the threads of the cooperative pool block signals.
    kill(getpid(), SIGTSTP)
    // Another thread gets the signal, so it takes a short time until all threads stop.
    usleep(50_000)
    enter()
  }

  /// Marks the screen's content as unknown, so that all of it is drawn again.
  func forget() {
    shown = nil
  }

  /// Draws lines from the top over the previous content, so that nothing flickers.
  ///
  /// It writes only lines that differ from those on the screen, because a screen reader speaks all
  /// that is written, and a braille display shows it.
  func draw(_ lines: [Line], _ colours: Appearance.Colours) {
    guard isEntered else { return }
    let (columns, rows) = size
    let frame = Frame(lines, colours, columns: columns, rows: rows)
    let changes = frame.changes(since: shown)
    shown = frame
    guard !changes.isEmpty else { return }
    // Terminals that support these sequences show the whole update at once.
    try? Self.output.write("\u{1B}[?2026h" + changes + "\u{1B}[?2026l")
  }
}
