import Foundation
import OAuthSandbox
import ProgramSupport
import TestSupport
import Testing

extension ChildProcess {
  /// Plays the user of a program that `BROWSER=echo` lets print the address of its sign-in.
  ///
  /// The number tells apart the sign-ins of one program, which it makes one after the other.
  func signIn(
    at sandbox: SandboxServer, _ visitor: SandboxVisitor = SandboxVisitor(), number: Int = 1
  ) async throws {
    let address = try await eventually("the address is shown") {
      // The last line may not have come to its end.
      errors.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        .filter { $0.hasPrefix(sandbox.issuer.absoluteString) }
        .dropFirst(number - 1).first
    }
    _ = try await visitor.visit(try #require(URL(string: String(address))))
  }
}
