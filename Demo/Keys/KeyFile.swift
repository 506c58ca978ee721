import SQBasics
import SQFiles
import SequencingOAuth

/// The client's private key, in the file that `--key` names.
///
/// An account keeps only the path of the file, never the key.
struct KeyFile: Sendable, Equatable, Redacted {
  /// The absolute path of the file.
  let path: String
  private let text: String
  private var passphrase: Secret?
  /// Why the key cannot be used; `nil` if it can.
  private var failure: Failure?

  /// Reads the file, and checks the key unless it still needs a passphrase; `nil` without a path.
  ///
  /// The passphrase from the environment is used only if the key is encrypted.
  init?(_ path: String?, passphrase: Secret?) throws(Failure) {
    guard let path else { return nil }
    let absolute = AbsolutePath.of(path)
    self.path = absolute
    text = try Failure.reading("the key file \(absolute)") { () throws(FileReading.ReadError) in
      try KeyText.read(at: absolute)
    }
    self.passphrase = KeyText.isEncrypted(text) ? passphrase : nil
    if !isLocked { _ = try clientKey(for: .standard) }
  }

  /// Creates the key of an account whose file cannot be used now.
  ///
  /// Only a request that needs the key fails, with this failure: a token that is still valid can be
  /// used without the key.
  init(unusable path: String, because failure: Failure) {
    self.path = path
    text = ""
    self.failure = failure
  }

  /// Whether the file lasts longer than this program, so that an account can keep its path.
  ///
  /// A pipe, such as from `<(…)`, and a path that names an open file by its number do not last.
  var lasts: Bool {
    !path.hasPrefix("/dev/") && !path.hasPrefix("/proc/") && FileReading.isFile(path)
  }

  /// Whether the key is encrypted, and its passphrase is not known yet.
  var isLocked: Bool { passphrase == nil && KeyText.isEncrypted(text) }

  /// Returns the file with the passphrase that the user enters.
  func unlocked(
    _ console: Console, by prompt: PassphrasePrompt? = .atTerminal
  ) async throws(Failure) -> KeyFile {
    guard isLocked else { return self }
    guard let prompt else { throw needsPassphrase }
    var file = self
    let answer = try await prompt.ask("Passphrase of the key \(path.onScreen): ", console)
    file.passphrase = Secret(.keyPassphrase, answer.value)
    _ = try file.clientKey(for: .standard)
    return file
  }

  /// The failure for an encrypted key if the program cannot ask for its passphrase.
  var needsPassphrase: Failure {
    Failure(
      "passphrase_needed",
      "the key file \(path.onScreen) is encrypted, and the program cannot ask for its passphrase; "
        + "put it into the environment variable \(Secret.Kind.keyPassphrase.variable)",
      status: .notAuthorized)
  }

  /// Returns the key; an RSA key that names no algorithm gets one that the profile allows.
  func clientKey(for profile: SecurityProfile) throws(Failure) -> ClientKey {
    do throws(SQOAuthError) {
      if let failure {
        return try ClientKey(algorithm: .es256, keyID: nil) { _ in throw failure.asError }
      }
      return try KeyText.clientKey(text, for: profile, passphrase: passphrase?.value)
    } catch {
      throw Failure(
        error.code.rawValue, "the key file \(path.onScreen): \(error.message)",
        status: error.code == .wrongPassphrase ? .notAuthorized : .wrongUsage)
    }
  }
}

extension KeyFile {
  /// Returns the key with the identifier by which the server knows it.
  ///
  /// For Apple, the identifier comes from the file's name.
  func clientKey(for profile: SecurityProfile, at server: Server) throws(Failure) -> ClientKey {
    let key = try clientKey(for: profile)
    guard case .known(.apple) = server, let keyID = Self.appleKeyID(in: path) else { return key }
    return try Failure.refusing { () throws(SQOAuthError) in
      try ClientKey(pem: try key.pem(), keyID: keyID)
    }
  }

  /// Returns the identifier in the name of a key file from Apple, `AuthKey_ID.p8`.
  static func appleKeyID(in path: String) -> String? {
    let name = path.split(separator: "/").last ?? ""
    guard name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else { return nil }
    let id = name.dropFirst("AuthKey_".count).dropLast(".p8".count)
    return id.isEmpty ? nil : String(id)
  }
}

extension SQOAuthError {
  /// The failure to use the client's key file, if it caused this error; otherwise `nil`.
  var failureOfKey: Failure? {
    guard code == .clientKeyFailed else { return nil }
    return (cause as? SQOAuthError)?.cause as? Failure
  }
}

extension Failure {
  /// The failure as an error of a ``ClientKey``; the SDK repeats the error's message.
  fileprivate var asError: SQOAuthError {
    SQOAuthError(.clientKeyFailed, message, cause: self)
  }

  /// The code of the failure if an account's key file cannot be used.
  static let keyUnavailable = "key_unavailable"

  /// Converts a failure to use a key file into the failure of the account that needs the file.
  ///
  /// A cancellation and a wrong passphrase stay unchanged.
  func ofKey(neededBy id: String) -> Failure {
    let isOfFile = status != .cancelled && code != SQOAuthError.Code.wrongPassphrase.rawValue
    guard isOfFile else { return self }
    return Failure(
      Self.keyUnavailable, "the account \"\(id.onScreen)\" cannot be used: \(message)",
      status: .notAuthorized
    ).namingNewKey("sq-demo login --account \(ShellWords.quote(id.onScreen))")
  }

  /// Returns this failure with the command that gives an account another key file.
  ///
  /// A failure with another code than ``keyUnavailable`` stays unchanged.
  func namingNewKey(_ command: String) -> Failure {
    guard code == Self.keyUnavailable else { return self }
    return withHint(
      "Mend or restore the file, or name another one: for this run with --key FILE, or for good with "
        + "'\(command) --key FILE'.")
  }
}
