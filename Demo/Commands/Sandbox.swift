import OAuthSandbox

/// `sandbox`: runs the sandbox by itself until it is interrupted.
struct Sandbox: Command {
  static let name = "sandbox"
  static let summary = "Run an authorization server to play with, until interrupted."
  static let details = "x"
  static let options: [Option] = []

  init(_ arguments: Arguments) throws(Failure) {}
  func run(_ console: Console) async throws(Failure) {}
}
