/// The tour's use of the terminal: its screen and its keys.
@MainActor
final class TourScreen {
  let terminal = RawTerminal()
  private let tell: @Sendable (TerminalInput.Event) -> Void
  private var keyboard: TerminalInput?

  init(_ tell: @escaping @Sendable (TerminalInput.Event) -> Void) {
    self.tell = tell
  }

  /// Switches to the screen and starts reading keys.
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
