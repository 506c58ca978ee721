import SQBasics
import SQFiles
import SQFoundation

/// A private file with one secret, created by the first program that needs the secret.
///
/// It has mode 0600, in a folder that is created with mode 0700; a file that other users can read
/// is rejected. The exception is a file that belongs to root, such as a container's secret: other
/// users may read it. Every call blocks its thread.
struct SecretFile: Sendable {
  /// The kind and the path of the file, for error messages.
  let name: String
  private let file: PrivateFile

  /// Creates a reference to a file; `kind` names it in error messages, for example `the key file`.
  init(_ kind: String, path: String) {
    name = "\(kind) \(path.printable)"
    file = PrivateFile(path: path, trust: .key)
  }

  /// Reads and parses the secret; returns `nil` if the file does not exist.
  func read<Secret>(
    _ parse: (Data) throws(SQOAuthError) -> Secret
  ) throws(SQOAuthError) -> Secret? {
    let content = try reported("be read") { () throws(FileFailure) in try file.read() }
    return try content.map(parse)
  }

  /// Reads the secret, or creates the file with a new secret if the file is missing.
  ///
  /// All processes that call this method at the same time get the same secret.
  func readOrMake<Secret>(
    _ parse: (Data) throws(SQOAuthError) -> Secret,
    make: () throws(SQOAuthError) -> (Secret, content: Data)
  ) throws(SQOAuthError) -> Secret {
    // An existing file is read without the lock: its disk may be full, or this program may be unable
    // to create a lock file in the folder of an administrator's file.
    if let secret = try readSynced(parse) { return secret }
    return try locked { () throws(SQOAuthError) in
      if let secret = try readSynced(parse) { return secret }
      let (secret, content) = try make()
      try write(content)
      return secret
    }
  }

  private func readSynced<Secret>(
    _ parse: (Data) throws(SQOAuthError) -> Secret
  ) throws(SQOAuthError) -> Secret? {
    guard let secret = try read(parse) else { return nil }
    // The process that created the file may have ended before the file's name was written to the
    // disk.
    try? file.syncFolder()
    return secret
  }

  /// Checks that a missing file could be created, without creating it.
  func checkMaking() throws(SQOAuthError) {
    let lock = try reported("be locked") { () throws(FileFailure) in try file.lock() }
    defer { lock.remove() }
    try reported("be written") { () throws(FileFailure) in try file.checkReplacing() }
  }

  /// Replaces the content; the caller must hold the lock.
  func write(_ content: Data) throws(SQOAuthError) {
    try reported("be written") { () throws(FileFailure) in try file.replace(with: content) }
  }

  /// Runs a closure; meanwhile, no other process changes the file.
  func locked<Value>(
    _ body: () throws(SQOAuthError) -> Value
  ) throws(SQOAuthError) -> Value {
    let lock = try reported("be locked") { () throws(FileFailure) in try file.lock() }
    defer { lock.release() }
    return try body()
  }

  func failure(
    _ code: SQOAuthError.Code, _ what: String, _ cause: (any Error)? = nil
  ) -> SQOAuthError {
    SQOAuthError(code, "\(name) \(what)", cause: cause)
  }

  private func reported<Value>(
    _ what: String, _ calls: () throws(FileFailure) -> Value
  ) throws(SQOAuthError) -> Value {
    try FileFailure.reported("\(name) cannot \(what)", calls)
  }
}
