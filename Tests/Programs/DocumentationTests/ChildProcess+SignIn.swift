import Foundation
import OAuthSandbox
import ProgramSupport
import TestSupport
import Testing

extension ChildProcess {
  /// Signs in at the address that the program prints because of `BROWSER=echo`.
  ///
  /// `number` is 1 for the first sign-in of the program, 2 for the second, and so on.
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
