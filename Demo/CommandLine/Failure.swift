import SQBasics
import SequencingOAuth

/// How a command ended, for the shell or script that started the program.
enum ExitStatus: Int32, Sendable {
  case success = 0
  case notAuthorized = 1
  case wrongUsage = 2
  /// The user denied access or cancelled the command, or the sign-in took too long.
  case cancelled = 3
  /// The newest token could not be stored and is lost when the program ends.
  case notKept = 4
}

/// The reason why a command failed: its message on standard error, and its exit status.
struct Failure: Error, Equatable {
  let code: String
  private(set) var message: String
  let status: ExitStatus
  /// The resource server's challenge: what it requires from a token.
  var challenge: String?
  /// An additional line that tells the user what to do.
  var hint: String?

  init(_ code: String, _ message: String, status: ExitStatus) {
    self.code = code
    self.message = message
    self.status = status
  }

  /// Creates a failure from an error of the SDK.
  init(_ error: SQOAuthError) {
    if let failure = error.failureOfKey {
      self = failure
      return
    }
    self.init(
      error.code.rawValue, Self.message(error),
      status: error.isCancellation ? .cancelled : .notAuthorized
    )
    challenge = error.challenge?.inWords
    hint = Self.option(for: error) ?? Self.hint(error)
  }

  /// Creates the failure for a token that was not stored before the end of the program.
  init(notKept error: SQOAuthError) {
    self.init(
      "not_kept", "the newest token could not be kept: \(error.code): \(error.message)",
      status: .notKept)
    hint = Self.signInAgain
  }

  /// Creates the failure for an account that is signed out, but was not erased from the store.
  init(notErased error: SQOAuthError) {
    self.init(
      error.code.rawValue, "the account is signed out, but still stored: \(error.message)",
      status: .notAuthorized)
    hint = Self.stillStored
  }

  /// The failure of a command that a signal interrupted.
  static let interrupted = Failure("cancelled", "the command was interrupted", status: .cancelled)

  /// Returns the message of an SDK error, without advice that only an app can follow.
  private static func message(_ error: SQOAuthError) -> String {
    guard error.code == .originNotAllowed,
      let advice = error.message.firstRange(of: ". If that server may see")
    else { return error.message }
    return String(error.message[..<advice.lowerBound]).replacing(
      "the client's resourceOrigins do not list", with: "the account is for other servers than")
  }

  private static func hint(_ error: SQOAuthError) -> String? {
    switch error.code {
    case .notRegistered:
      "Name the provider, with the options that you gave to 'login'."
    case .originNotAllowed:
      "Name the server with --resource, as well as the servers that you gave to 'login'."
    case .insufficientScope:
      signInForMore
    case .wrongPassphrase:
      "Nothing was changed. 'sq-demo help stores' explains where the key comes from."
    case .storeDamaged:
      "Nothing was changed. Restore a copy of the store, or name another place with --store. If "
        + "only one account is damaged, 'sq-demo logout --account ID' erases it."
    case .storeTooNew:
      "Nothing was changed. Use the program that wrote the store, or another --store."
    case .storeFailed where error.message.contains("OPENSSL_CONF"):
      nil
    case .storeFailed:
      "You can name another place for accounts with --store."
    case _ where error.requiresSignIn:
      signInAgain
    default:
      nil
    }
  }

  /// This failure as the failure of a sign-in, without advice to sign in again.
  var ofSignIn: Failure {
    var failure = self
    if hint == Self.signInAgain { failure.hint = nil }
    return failure
  }

  static let signInAgain = "Sign in again with 'sq-demo login'."
  static let stillStored =
    "The account is still stored here. Once the store can be changed, 'sq-demo logout' removes it."
  static let signInForMore = "Sign in again with 'sq-demo login' and a wider --scope."

  /// Returns the failure for a command line that the command does not accept.
  static func usage(_ message: String) -> Failure {
    Failure("usage", message, status: .wrongUsage)
  }

  /// Returns the failure for a well-formed command line with a value that the SDK rejects.
  static func refused(_ error: SQOAuthError) -> Failure {
    Failure(error.code.rawValue, error.message, status: .wrongUsage)
  }

  /// Returns the failure for an option whose URL the SDK rejects.
  ///
  /// The SDK's message says only "the URL", and a command line may have several.
  static func refused(_ error: SQOAuthError, of option: Option) -> Failure {
    Failure(error.code.rawValue, "\(option.name): \(error.message)", status: .wrongUsage)
  }

  /// Returns the failure for an address that the SDK rejects; if the address has no scheme, the
  /// failure proposes one.
  ///
  /// With `acceptsPath`, an address that begins with a plain word, such as `api/me`, is probably a
  /// path without its slash.
  static func refused(
    _ error: SQOAuthError, address: String, acceptsPath: Bool = false
  ) -> Failure {
    let failure = refused(error)
    if acceptsPath, address.firstMatch(of: /^[A-Za-z0-9_-]+\//) != nil,
      !address.hasPrefix("localhost/")
    {
      return failure.withHint("Did you mean /\(address.onScreen)?")
    }
    return failure.proposingScheme(for: address)
  }

  /// Returns this failure with a hint that proposes a scheme for an address without one.
  private func proposingScheme(for address: String) -> Failure {
    guard !address.contains("://"), address.contains(/[.:\/]/),
      let scheme = ["http", "https"].first(where: {
        (try? ResourceOrigin("\($0)://\(address)")) != nil
      })
    else { return self }
    return withHint("Did you mean \(scheme)://\(address.onScreen)?")
  }

  /// Runs code of the SDK, and converts its error to a failure.
  static func translating<Value>(
    _ body: () async throws(SQOAuthError) -> Value
  ) async throws(Failure) -> Value {
    do throws(SQOAuthError) {
      return try await body()
    } catch {
      throw Task.isCancelled && error.code == .cancelled ? .interrupted : Failure(error)
    }
  }

  /// Checks a value of the command line with code of the SDK, and converts its error to a failure.
  ///
  /// `option` is the option of the value, if the SDK's message does not say enough. If the value is
  /// an `address` without a scheme, the failure proposes one.
  static func refusing<Value>(
    of option: Option? = nil, address: String? = nil, _ body: () throws(SQOAuthError) -> Value
  ) throws(Failure) -> Value {
    do throws(SQOAuthError) {
      return try body()
    } catch {
      let failure = option.map { refused(error, of: $0) } ?? refused(error)
      throw address.map(failure.proposingScheme) ?? failure
    }
  }

  func withHint(_ hint: String) -> Failure {
    var failure = self
    failure.hint = hint
    return failure
  }

  /// Returns a copy of this failure without the token, in case a server's answer repeats it.
  func hiding(_ token: SQToken?) -> Failure {
    let secrets = SentSecrets([token?.accessToken, token?.refreshToken].compactMap(\.self))
    var failure = self
    failure.message = secrets.removed(from: message)
    failure.challenge = challenge.map(secrets.removed)
    return failure
  }

  /// The lines for standard error.
  var lines: [String] {
    ["error: \(code): \(message)"]
      + [challenge.map { "challenge: \($0)" }, hint, explanation].compactMap(\.self)
  }

  /// The line that names the command `explain` with the error code of this failure.
  ///
  /// It is `nil` if the SDK does not document the error code, or if the user interrupted the
  /// program.
  private var explanation: String? {
    let isExplained = code != Self.interrupted.code && Article.troubleshooting.codes.contains(code)
    return isExplained ? "'sq-demo explain \(code)' says more." : nil
  }
}

extension TokenChallenge {
  /// The challenge in the form of a server's header field, with its parameters sorted by name.
  var inWords: String {
    let parameters = parameters.sorted { $0.key < $1.key }
      .map { "\($0.key)=\"\($0.value)\"" }
    return "\(scheme) \(parameters.joined(separator: ", "))".onScreen
  }
}
