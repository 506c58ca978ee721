import Foundation
import TestSupport

/// A terminal with a shell, for programs that need a whole terminal.
package final class Tmux: Sendable {
  private let folder: TemporaryFolder
  private let server: ChildProcess
  /// The shell's variables: tmux takes some from its server, and `PATH` from the caller.
  private let environment: [String: String?]

  /// Starts a shell in a new terminal.
  package init(
    environment: [String: String?] = [:], columns: Int = 80, rows: Int = 24
  ) async throws {
    folder = try TemporaryFolder()
    self.environment = environment.merging(["TERM": "xterm", "TMUX": nil, "ENV": nil]) { $1 }
    // Without -D, the server leaves this process's group and outlives the test.
    server = try ChildProcess(
      ["tmux", "-S", folder.file("socket"), "-f", "/dev/null", "-D"],
      environment: self.environment, input: .open)
    try await eventually("tmux listens") { [folder] in folder.exists("socket") }
    try await run(["new-session", "-d", "-x", "\(columns)", "-y", "\(rows)", "sh"])
    try await type("PS1='ready> '; clear")
    try await press("Enter")
    try await shows("has a shell") { $0.hasPrefix("ready>") }
  }

  /// Types a text, without Enter.
  package func type(_ text: String) async throws {
    try await run(["send-keys", "-l", text])
  }

  /// Presses keys by their names, such as `Enter`, `Tab` or `C-c`.
  package func press(_ keys: String...) async throws {
    try await run(["send-keys"] + keys)
  }

  /// Returns the text on the terminal.
  package func screen() async throws -> String {
    try await run(["capture-pane", "-p"])
  }

  /// Waits until the terminal shows a text.
  @discardableResult
  package func shows(_ text: String) async throws -> String {
    try await shows("shows: \(text)") { $0.contains(text) }
  }

  /// Waits until the text on the terminal meets a condition.
  @discardableResult
  package func shows(
    _ what: String, _ isRight: (String) -> Bool
  ) async throws -> String {
    var last = ""
    do {
      return try await eventually("the terminal \(what)") {
        last = try await screen()
        return isRight(last) ? last : nil
      }
    } catch {
      throw ChildProcessError(message: "\(error); it has:\n\(last)")
    }
  }

  /// Ends the terminal with all programs in it.
  package func stop() async {
    _ = try? await run(["kill-server"])
    await server.stop()
  }

  @discardableResult
  private func run(_ arguments: [String]) async throws -> String {
    let result = try await ChildProcess.run(
      ["tmux", "-S", folder.file("socket")] + arguments, environment: environment)
    guard result.status == 0 else { throw ChildProcessError(message: "tmux: \(result.errors)") }
    return result.output
  }
}
