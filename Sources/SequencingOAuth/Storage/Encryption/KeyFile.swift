import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A file with 32 random bytes and nothing else, or with their box under a passphrase.
///
/// It has mode 0600, in a folder that is made with mode 0700. A file of root's may be readable by
/// others too, as a container's secrets are. Every call blocks.
struct KeyFile: Sendable, Redacted {
  private static let context = Data("SequencingOAuth key file".utf8)

  private let file: PrivateFile
  private let passphrase: String?

  init(path: String, passphrase: String?) {
    file = PrivateFile(path: path, trust: .key)
    self.passphrase = passphrase
  }

  /// The key.
  func read() throws(SQOAuthError) -> Data {
    guard let key = try readIfPresent() else { throw failure(.storeFailed, "is not there") }
    return key
  }

  /// Refuses a file that cannot be read or opened; a file that is not there is no failure.
  func check() throws(SQOAuthError) { _ = try readIfPresent() }

  /// The key, which is a new one where there is no file; of many who do so at once all get one key.
  func makeIfAbsent() throws(SQOAuthError) -> Data {
    // An administrator's may stand where this program writes nothing, not even a lock.
    if !file.isInWritableFolder, let key = try readIfPresent() { return key }
    return try locked { () throws(SQOAuthError) in
      if let key = try readIfPresent() {
        // Whoever made it may have ended before its name was safe.
        try reported("be written") { () throws(FileError) in try file.syncFolder() }
        return key
      }
      let key = try RandomBytes.make(EncryptionService.keySize)
      try write(key)
      return key
    }
  }

  /// Puts the same key under another passphrase, or under none.
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
        throw failure(.wrongPassphrase, "is not sealed under a passphrase")
      }
      return content
    }
    guard let end = content.firstIndex(of: UInt8(ascii: "\n")) else {
      throw failure(.storeDamaged, "is damaged, and is left as it is")
    }
    guard let passphrase else {
      throw failure(.wrongPassphrase, "is sealed under a passphrase")
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
