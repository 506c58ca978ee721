import Glibc

/// A terminal that does not show what is typed, until it is told to again.
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
    // The end of the line, so that what follows does not stand behind the question.
    settings.c_lflag |= tcflag_t(ICANON | ISIG | ECHONL)
    // A shell that gets the terminal meanwhile would show what is typed later.
    stopHandler = signal(SIGTSTP, SIG_IGN)
    tcsetattr(terminal, TCSAFLUSH, &settings)
  }

  func show() {
    var settings = before
    tcsetattr(terminal, TCSADRAIN, &settings)
    signal(SIGTSTP, stopHandler)
  }
}
