import Foundation
import OAuthSandbox
import ProgramSupport
import TestSupport
import Testing

extension ChildProcess {
  /// Plays the user of a program that prints its sign-in address because of `BROWSER=echo`.
  ///
  /// `number` is the position of the sign-in among those of one program.
  func signIn(
    at sandbox: SandboxServer, _ visitor: SandboxVisitor = SandboxVisitor(), number: Int = 1
  ) async throws {
    let address = try await eventually("the address is shown") {
      // The last line may be incomplete.
      errors.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        .filter { $0.hasPrefix(sandbox.issuer.absoluteString) }
        .dropFirst(number - 1).first
    }
    _ = try await visitor.visit(try #require(URL(string: String(address))))
  }
}
