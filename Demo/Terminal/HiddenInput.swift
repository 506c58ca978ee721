import SQLibC

/// A terminal that does not show the typed characters until ``show()``.
struct HiddenInput {
  private let terminal: Int32
  private let before: termios
  private let stopHandler: (@convention(c) (Int32) -> Void)?

  init(_ terminal: Int32) {
    self.terminal = terminal
    var settings = termios()
    tcgetattr(terminal, &settings)
    before = settings
    settings.c_lflag &= ~tcflag_t(ECHO)
    // Only the newline is still shown, so that the next text starts on the line below the question.
    settings.c_lflag |= tcflag_t(ICANON | ISIG | ECHONL)
    // If the user could stop the program, the shell would show the characters that are typed later.
    stopHandler = signal(SIGTSTP, SIG_IGN)
    tcsetattr(terminal, TCSAFLUSH, &settings)
  }

  func show() {
    var settings = before
    tcsetattr(terminal, TCSADRAIN, &settings)
    signal(SIGTSTP, stopHandler)
  }
}
