/// The tour's hold of the terminal: its screen, and the keys that are pressed on it.
@MainActor
final class TourScreen {
  let terminal = RawTerminal()
  private let tell: @Sendable (TerminalInput.Event) -> Void
  private var keyboard: TerminalInput?

  init(_ tell: @escaping @Sendable (TerminalInput.Event) -> Void) {
    self.tell = tell
  }

  /// Switches to the screen, and reads the keys.
  func enter() {
    guard keyboard == nil else { return }
    terminal.enter()
    keyboard = TerminalInput(tell)
    tell(.needsDrawing)
  }

  /// Reads no key any more, and restores the terminal.
  func leave() {
    keyboard?.stop()
    keyboard = nil
    terminal.leave()
  }
}
