import SequencingOAuth

/// The statuses with which the program ends.
enum ExitStatus: Int32, Sendable {
  case success = 0
  case notAuthorized = 1
  case wrongUsage = 2
  /// Denied, cancelled or timed out.
  case cancelled = 3
}

/// Why a command did not succeed: what it says on standard error, and how it ends.
struct Failure: Error, Equatable {
  let code: String
  let message: String
  let status: ExitStatus
  /// A further line that says what to do.
  var hint: String?

  init(_ code: String, _ message: String, status: ExitStatus) {
    self.code = code
    self.message = message
    self.status = status
  }

  /// What the SDK reports, from a sign-in or a store.
  init(_ error: SQOAuthError) {
    self.init(
      error.code.rawValue, error.message, status: error.isCancellation ? .cancelled : .notAuthorized
    )
    if error.code == .browserUnavailable {
      hint = "With --browser print the address is shown, to be opened by hand."
    }
  }

  /// The command line is not one that the command understands.
  static func usage(_ message: String) -> Failure {
    Failure("usage", message, status: .wrongUsage)
  }

  /// What was typed is well-formed, but the SDK refuses to work with it.
  static func refused(_ error: SQOAuthError) -> Failure {
    Failure(error.code.rawValue, error.message, status: .wrongUsage)
  }

  func withHint(_ hint: String) -> Failure {
    var failure = self
    failure.hint = hint
    return failure
  }

  /// The lines for standard error.
  var lines: [String] { ["error: \(code): \(message)"] + [hint].compactMap(\.self) }
}
