import SQBasics
import SQCrypto
import SQFoundation

/// A file with a key: either 32 random bytes, or those bytes sealed with a passphrase.
///
/// Every call blocks its thread.
struct KeyFile: Sendable, Redacted {
  private static let context = Data("SequencingOAuth key file".utf8)

  private let path: String
  private let file: SecretFile
  private let passphrase: String?

  init(path: String, passphrase: String?) {
    self.path = path
    file = SecretFile("the key file", path: path)
    self.passphrase = passphrase
  }

  /// Reads the key; throws if the file does not exist.
  func read() throws(SQOAuthError) -> Data {
    guard let key = try file.read(key) else { throw file.failure(.storeFailed, "does not exist") }
    return key
  }

  /// Throws if the file exists but its key cannot be read, or if it is missing and cannot be
  /// created.
  func check() throws(SQOAuthError) {
    if try file.read(key) == nil { try file.checkMaking() }
  }

  /// Reads the key, or creates the file with a new key if it is missing.
  ///
  /// All processes that call this method at the same time get the same key.
  func makeIfAbsent() throws(SQOAuthError) -> Data {
    try file.readOrMake(key) { () throws(SQOAuthError) in
      let key = try CryptoFailure.reported { () throws(CryptoFailure) in
        try RandomBytes.make(EncryptionService.keySize)
      }
      return (key, try content(with: key))
    }
  }

  /// Seals the file's key with a different passphrase, or stores the key unsealed if `passphrase`
  /// is `nil`.
  func change(to passphrase: String?) throws(SQOAuthError) {
    try file.locked { () throws(SQOAuthError) in
      try file.write(KeyFile(path: path, passphrase: passphrase).content(with: read()))
    }
  }

  private func key(in content: Data) throws(SQOAuthError) -> Data {
    if content.count == EncryptionService.keySize {
      guard passphrase == nil else {
        throw file.failure(.wrongPassphrase, "is not encrypted, but a passphrase was given")
      }
      return content
    }
    guard let end = content.firstIndex(of: UInt8(ascii: "\n")) else {
      throw damaged
    }
    guard let passphrase else {
      throw file.failure(.wrongPassphrase, "is encrypted with a passphrase, but none was given")
    }
    do throws(SQOAuthError) {
      let header = try SealHeader(content[..<end], secret: .checked(passphrase))
      return try header.service.open(content[end...].dropFirst(), authenticating: Self.context)
    } catch {
      guard error.code != .storeDamaged else { throw damaged }
      throw file.failure(error.code, "cannot be opened: \(error.message)", error)
    }
  }

  private var damaged: SQOAuthError {
    file.failure(.storeDamaged, "is damaged and was not changed; restore a copy")
  }

  private func content(with key: Data) throws(SQOAuthError) -> Data {
    guard let passphrase else { return key }
    let header = try SealHeader(for: .checked(passphrase))
    return try header.bytes + Data("\n".utf8)
      + header.service.seal(key, authenticating: Self.context)
  }
}
