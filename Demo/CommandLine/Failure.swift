import SequencingOAuth

/// The statuses with which the program ends.
enum ExitStatus: Int32, Sendable {
  case success = 0
  case notAuthorized = 1
  case wrongUsage = 2
  /// Denied, cancelled or timed out.
  case cancelled = 3
  /// The newest token could not be kept: it ended with the program.
  case notKept = 4
}

/// Why a command did not succeed: what it says on standard error, and how it ends.
struct Failure: Error, Equatable {
  let code: String
  private(set) var message: String
  let status: ExitStatus
  /// What a resource server asks for.
  var challenge: String?
  /// A further line that says what to do.
  var hint: String?

  init(_ code: String, _ message: String, status: ExitStatus) {
    self.code = code
    self.message = message
    self.status = status
  }

  /// What the SDK reports.
  init(_ error: SQOAuthError) {
    self.init(
      error.code.rawValue, error.message, status: error.isCancellation ? .cancelled : .notAuthorized
    )
    challenge = error.challenge?.inWords
    hint = Self.hint(error)
  }

  /// A token that is in memory only when the program ends.
  init(notKept error: SQOAuthError) {
    self.init(
      "not_kept", "the newest token could not be kept: \(error.code): \(error.message)",
      status: .notKept)
    hint = Self.signInAgain
  }

  /// The command was ended by a signal before it was done.
  static let interrupted = Failure("cancelled", "it was interrupted", status: .cancelled)

  private static func hint(_ error: SQOAuthError) -> String? {
    switch error.code {
    case .notRegistered:
      "Name the provider, with the options that 'login' was given."
    case .originNotAllowed:
      "Name the server with --resource, beside those that 'login' was given."
    case .insufficientScope:
      signInForMore
    case .wrongPassphrase:
      "Nothing was changed. 'sq-demo help stores' tells where the key comes from."
    case .storeDamaged:
      "Nothing was changed. Bring a copy back, or name another place with --store."
    case .storeTooNew:
      "Nothing was changed. Use the program that wrote it, or another --store."
    case .storeFailed:
      "Another place to keep accounts in can be named with --store."
    case _ where error.requiresSignIn:
      signInAgain
    default:
      nil
    }
  }

  static let signInAgain = "Sign in again with 'sq-demo login'."
  static let signInForMore = "Sign in again with 'sq-demo login' and a wider --scope."

  /// The command line is not one that the command understands.
  static func usage(_ message: String) -> Failure {
    Failure("usage", message, status: .wrongUsage)
  }

  /// What was typed is well-formed, but the SDK refuses to work with it.
  static func refused(_ error: SQOAuthError) -> Failure {
    Failure(error.code.rawValue, error.message, status: .wrongUsage)
  }

  /// Runs what the SDK does, with its errors as failures.
  static func translating<Value>(
    _ body: () async throws(SQOAuthError) -> Value
  ) async throws(Failure) -> Value {
    do throws(SQOAuthError) {
      return try await body()
    } catch {
      throw Task.isCancelled && error.code == .cancelled ? .interrupted : Failure(error)
    }
  }

  func withHint(_ hint: String) -> Failure {
    var failure = self
    failure.hint = hint
    return failure
  }

  /// The same without a token that a server may have repeated.
  func hiding(_ token: SQToken?) -> Failure {
    var failure = self
    for secret in [token?.accessToken, token?.refreshToken].compactMap(\.self) {
      failure.message = failure.message.replacing(secret, with: "…")
      failure.challenge = failure.challenge?.replacing(secret, with: "…")
    }
    return failure
  }

  /// The lines for standard error.
  var lines: [String] {
    ["error: \(code): \(message)"]
      + [challenge.map { "challenge: \($0)" }, hint].compactMap(\.self)
  }
}

extension BearerChallenge {
  /// The challenge as a server writes it, its parameters in the order of their names.
  var inWords: String {
    let parameters = parameters.sorted { $0.key < $1.key }
      .map { "\($0.key)=\"\($0.value)\"" }
    return "\(scheme) \(parameters.joined(separator: ", "))".printable
  }
}
