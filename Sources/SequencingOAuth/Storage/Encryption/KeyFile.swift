import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A file with a key: 32 random bytes and nothing else, or those bytes sealed under a passphrase.
///
/// It has mode 0600, in a folder that is created with mode 0700. A file that belongs to root may be
/// readable by other users too, as a container's secrets are. Every call blocks its thread.
struct KeyFile: Sendable, Redacted {
  private static let context = Data("SequencingOAuth key file".utf8)

  private let file: PrivateFile
  private let passphrase: String?

  init(path: String, passphrase: String?) {
    file = PrivateFile(path: path, trust: .key)
    self.passphrase = passphrase
  }

  /// Reads the key; throws if the file does not exist.
  func read() throws(SQOAuthError) -> Data {
    guard let key = try readIfPresent() else { throw failure(.storeFailed, "does not exist") }
    return key
  }

  /// Throws if the file exists and its key cannot be read.
  func check() throws(SQOAuthError) { _ = try readIfPresent() }

  /// Reads the key, or creates the file with a new key if it is missing.
  ///
  /// All processes that call this at the same time get the same key.
  func makeIfAbsent() throws(SQOAuthError) -> Data {
    // An administrator's file may be in a folder in which this program can create nothing, not even
    // a lock file.
    if !file.isInWritableFolder, let key = try readIfPresent() { return key }
    return try locked { () throws(SQOAuthError) in
      if let key = try readIfPresent() {
        // The process that created the file may have ended before the file's name was on the disk.
        try reported("be written") { () throws(FileError) in try file.syncFolder() }
        return key
      }
      let key = try RandomBytes.make(EncryptionService.keySize)
      try write(key)
      return key
    }
  }

  /// Seals the key under another passphrase, or stores it without one; the key stays the same.
  func change(to passphrase: String?) throws(SQOAuthError) {
    try locked { () throws(SQOAuthError) in
      try KeyFile(path: file.path, passphrase: passphrase).write(read())
    }
  }

  private func readIfPresent() throws(SQOAuthError) -> Data? {
    let content = try reported("be read") { () throws(FileError) in try file.read() }
    return try content.map { content throws(SQOAuthError) in try key(in: content) }
  }

  private func key(in content: Data) throws(SQOAuthError) -> Data {
    if content.count == EncryptionService.keySize {
      guard passphrase == nil else {
        throw failure(.wrongPassphrase, "is not sealed under a passphrase, but one was given")
      }
      return content
    }
    guard let end = content.firstIndex(of: UInt8(ascii: "\n")) else {
      throw failure(.storeDamaged, "is damaged; it is left as it is")
    }
    guard let passphrase else {
      throw failure(.wrongPassphrase, "is sealed under a passphrase, and none was given")
    }
    do throws(SQOAuthError) {
      let header = try SealHeader(content[..<end], secret: .checked(passphrase))
      return try header.service.open(content[end...].dropFirst(), authenticating: Self.context)
    } catch {
      throw failure(error.code, "cannot be opened: \(error.message)", error)
    }
  }

  private func write(_ key: Data) throws(SQOAuthError) {
    var content = key
    if let passphrase {
      let header = try SealHeader(for: .checked(passphrase))
      content = header.bytes + Data("\n".utf8)
      content += try header.service.seal(key, authenticating: Self.context)
    }
    try reported("be written") { () throws(FileError) in try file.replace(with: content) }
  }

  private func reported<Value>(
    _ what: String, _ calls: () throws(FileError) -> Value
  ) throws(SQOAuthError) -> Value {
    try FileError.reported("\(name) cannot \(what)", calls)
  }

  private func locked<Value>(
    _ body: () throws(SQOAuthError) -> Value
  ) throws(SQOAuthError) -> Value {
    let lock = try reported("be locked") { () throws(FileError) in try file.lock() }
    defer { lock.release() }
    return try body()
  }

  private func failure(
    _ code: SQOAuthError.Code, _ what: String, _ cause: (any Error)? = nil
  ) -> SQOAuthError {
    SQOAuthError(code, "\(name) \(what)", cause: cause)
  }

  private var name: String { "the key file \(file.path.printable)" }
}
