import TestSupport

/// GNOME Keyring's prompt for its password, on a separate display.
package final class PasswordPrompt: Sendable {
  private let display: PrivateDisplay
  private let program: ChildProcess
  private let environment: [String: String?]

  /// Starts the program that shows the prompts, which stay until ``answer()`` or ``refuse()``.
  package init(on desktop: PrivateDesktop) async throws {
    display = try await PrivateDisplay()
    environment = desktop.environment.merging([
      // Without this variable, the program would start an accessibility bus.
      "DISPLAY": display.name, "NO_AT_BRIDGE": "1",
    ]) { $1 }
    program = try PrivateDesktop.start(
      [ProgramRequirement.path(of: "gcr-prompter") ?? "gcr-prompter"], environment: environment)
    try await eventually("the prompter is on the bus") {
      try await desktop.hasOwner("org.gnome.keyring.SystemPrompter")
    }
  }

  /// Waits until a prompt is on the screen.
  package func isShown() async throws {
    try await eventually("the prompt is on the screen") { try await !windows().isEmpty }
  }

  /// Types the password of the keyrings that ``PrivateDesktop`` makes.
  package func answer() async throws {
    try await press("ctrl+a", "p", "a", "s", "s", "w", "o", "r", "d", "Return")
  }

  /// Refuses to type the password.
  package func refuse() async throws { try await press("Escape") }

  /// Presses keys in the prompt until it is gone.
  private func press(_ keys: String...) async throws {
    try await isShown()
    try await eventually("the prompt is answered") {
      for window in try await windows() {
        _ = try await xdotool(["windowfocus", "--sync", window, "key"] + keys)
      }
      return try await windows().isEmpty
    }
  }

  private func windows() async throws -> [String] {
    try await xdotool(["search", "--onlyvisible", "--class", "gcr-prompter"])
      .split(separator: "\n").map(String.init)
  }

  private func xdotool(_ arguments: [String]) async throws -> String {
    try await ChildProcess.run(["xdotool"] + arguments, environment: environment).output
  }

  /// Ends the program and its display.
  package func stop() async {
    await program.stop()
    await display.stop()
  }
}
