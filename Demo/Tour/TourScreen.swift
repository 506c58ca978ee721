/// The terminal during the tour: a screen to draw on, and the keys that the user presses.
@MainActor
final class TourScreen {
  let terminal = RawTerminal()
  private let tell: @Sendable (TerminalInput.Event) -> Void
  private var keyboard: TerminalInput?

  init(_ tell: @escaping @Sendable (TerminalInput.Event) -> Void) {
    self.tell = tell
  }

  /// Switches to the alternate screen and starts reading keys.
  func enter() {
    guard keyboard == nil else { return }
    terminal.enter()
    keyboard = TerminalInput(tell)
    tell(.needsDrawing)
  }

  /// Stops reading keys and restores the terminal.
  func leave() {
    keyboard?.stop()
    keyboard = nil
    terminal.leave()
  }
}
