/// A separate display without a screen, for programs with windows.
package final class PrivateDisplay: Sendable {
  /// The value of `DISPLAY` for this display.
  package let name: String
  private let server: ChildProcess

  /// Starts a display, which ends with ``stop()``.
  package init() async throws {
    // The display number is random: an X server that chooses the number itself may take the number
    // of a server that is ending, and that server then removes the new server's socket. Without
    // `-noreset`, a server restarts whenever its last client leaves, and refuses others meanwhile.
    server = try PrivateDesktop.start([
      "Xvfb", ":\(Int.random(in: 1000...50_000))", "-displayfd", "1", "-noreset",
      "-screen", "0", "1024x768x24", "-nolisten", "tcp",
    ])
    name = ":\(try await server.line(after: ""))"
  }

  /// Ends the display, and with it the programs that have windows on it.
  package func stop() async { await server.stop() }
}
