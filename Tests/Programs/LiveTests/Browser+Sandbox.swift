import OAuthSandbox
import ProgramSupport
import TestSupport

/// A user's actions on the sandbox's pages.
extension Browser {
  /// Fills in the login page, and presses the Enter key after the password.
  func logInToSandbox(as user: SandboxUser) async throws {
    try await type(user.name, into: "#username")
    try await type(user.password + "\n", into: "#password")
  }

  /// Presses the page's button with the value `decision`.
  func decide(_ decision: String) async throws {
    try await click("button[value=\(decision)]")
  }

  /// Waits until the browser shows a page with the given heading.
  func reach(_ heading: String) async throws {
    try await eventually("the page \"\(heading)\" is shown") {
      try await self.run(
        "return document.querySelector('h1')?.textContent ?? ''", as: String.self) == heading
    }
  }
}
