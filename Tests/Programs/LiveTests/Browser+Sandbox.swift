import OAuthSandbox
import ProgramSupport
import TestSupport

/// What a user does on the sandbox's pages.
extension Browser {
  /// Fills in the login page; the password ends with the Enter key.
  func logInToSandbox(as user: SandboxUser) async throws {
    try await type(user.name, into: "#username")
    try await type(user.password + "\n", into: "#password")
  }

  /// Presses a button of a page by what it stands for.
  func decide(_ decision: String) async throws {
    try await click("button[value=\(decision)]")
  }

  /// Waits until a page with this heading is there.
  func reach(_ heading: String) async throws {
    try await eventually("the page \"\(heading)\" is shown") {
      try await self.run(
        "return document.querySelector('h1')?.textContent ?? ''", as: String.self) == heading
    }
  }
}
