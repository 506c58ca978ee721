import SQBasics
import SQFiles
import SQFoundation

/// The content of a token file: its records; each can stay encrypted until it is needed.
protocol TokenFileContent: Sendable {
  var ids: [String] { get }
  func record(_ id: String) throws(SQOAuthError) -> AccountRecord?
  mutating func save(_ record: AccountRecord) throws(SQOAuthError)
  mutating func erase(_ id: String)
}

/// The format of a token file: it encodes and decodes the content.
///
/// Its error messages do not name the file; they continue a text such as "the token file cannot be
/// read:".
protocol TokenFileFormat: Sendable {
  associatedtype Content: TokenFileContent
  /// The sealer of the records; `nil` if unencrypted, and before the file is first read or created.
  var sealer: RecordSealer? { get }
  /// Throws if a new file could not be created with the key; creates no file.
  func checkKey() throws(SQOAuthError)
  /// Creates the content of a new file.
  func create() throws(SQOAuthError) -> Content
  /// Returns whether a file's bytes begin like a file of this format, even if they are damaged.
  func recognizes(_ bytes: Data) -> Bool
  func decode(_ bytes: Data) throws(SQOAuthError) -> Content
  func encode(_ content: Content) throws(SQOAuthError) -> Data
}

extension TokenFileFormat {
  /// Returns the given content; creates the content of a new file if it is `nil`.
  func existing(_ content: Content?) throws(SQOAuthError) -> Content {
    if let content { return content }
    return try create()
  }
}

/// A file of records that any number of processes may read, and replace as a whole.
///
/// If the file cannot be understood, calls throw, and the file is never overwritten.
final class TokenFile<Format: TokenFileFormat>: Sendable {
  let format: Format
  let writeAheadCopies: WriteAheadCopies
  private let file: PrivateFile
  let locks: AccountLocks
  let queue = BlockingQueue("TokenFile")
  /// The longest time from a call to the end of its wait for another program's lock on the file.
  private let lockLimit: Duration
  private let latest = Locked<Latest?>(nil)

  /// The file's content at the last read or write.
  ///
  /// If the bytes have not changed, they need not be decoded again; decoding takes much longer than
  /// the comparison.
  private struct Latest {
    /// The maximum size of a file to keep in memory, in bytes.
    static var maximumBytes: Int { 64 * 1024 }

    let bytes: Data
    let content: Format.Content
  }

  init(path: String, format: Format, lockLimit: Duration = .seconds(30)) {
    self.format = format
    self.lockLimit = lockLimit
    file = PrivateFile(path: path)
    locks = AccountLocks(folder: path + ".locks")
    writeAheadCopies = WriteAheadCopies(store: path)
  }

  /// Returns whether the file exists; throws if it exists but cannot be read.
  func exists() async throws(SQOAuthError) -> Bool {
    try await runIfWanted { file throws(SQOAuthError) in try file.content() != nil }
  }

  func load(_ id: String) async throws(SQOAuthError) -> AccountRecord? {
    try await runIfWanted { file throws(SQOAuthError) in
      try file.content().map { content throws(SQOAuthError) in
        try file.record(id, in: content)
      } ?? nil
    }
  }

  func save(_ record: AccountRecord) async throws(SQOAuthError) {
    try await run { file throws(SQOAuthError) in
      do throws(SQOAuthError) {
        let lock = try file.lock()
        defer { lock.release() }
        try file.rewriteLocked(copyOf: record.id) { content, format throws(SQOAuthError) in
          var content = try format.existing(content)
          try content.save(record)
          return content
        }
      } catch {
        // The record is safe in its write-ahead copy, and the account's next change moves it to the
        // token file.
        guard error.code == .storeFailed, file.hasWriteAheadCopy(record) else { throw error }
      }
    }
  }

  func erase(_ id: String) async throws(SQOAuthError) {
    try await rewrite { [writeAheadCopies] content, format throws(SQOAuthError) in
      // The copy is removed before the record: if the process ended between the two steps, a
      // remaining copy would still contain the token of a user who signed out.
      try writeAheadCopies.remove(id, format.sealer)
      var content = content
      content?.erase(id)
      return content
    }
  }

  func list() async throws(SQOAuthError) -> [String] {
    try await runIfWanted { file throws(SQOAuthError) in
      try file.content()?.ids ?? []
    }
  }

  func entries(after key: Data?, limit: Int) async throws(SQOAuthError) -> [AccountEntry] {
    try await runIfWanted { file throws(SQOAuthError) in
      guard let content = try file.content() else { return [] }
      var entries: [AccountEntry] = []
      for id in content.ids.page(after: key, limit: limit) {
        if let entry = try file.entry(id, in: content) { entries.append(entry) }
      }
      return entries
    }
  }

  private func entry(
    _ id: String, in content: Format.Content
  ) throws(SQOAuthError) -> AccountEntry? {
    do throws(SQOAuthError) {
      return try record(id, in: content).map { AccountEntry(id, .success($0)) }
    } catch {
      guard error.concernsOneRecord else { throw error }
      return AccountEntry(id, .failure(error))
    }
  }

  func lease(_ id: String) async throws(SQOAuthError) -> AccountLease? {
    try await run { file throws(SQOAuthError) in try file.locks.lease(id) }
  }

  func leaseHolder(_ id: String) async -> String? {
    try? await run { file throws(SQOAuthError) in file.locks.holder(id) }
  }

  /// Reads, changes and writes the file under its lock; if `change` returns `nil`, writes nothing.
  ///
  /// If `keepsContent` is `false`, the next call decodes the file again, so that the format learns
  /// the file's current key.
  func rewrite(
    keepsContent: Bool = true,
    _ change:
      @escaping @Sendable (Format.Content?, Format) throws(SQOAuthError) -> Format.Content?
  ) async throws(SQOAuthError) {
    try await run { file throws(SQOAuthError) in
      let lock = try file.lock()
      defer { lock.release() }
      try file.rewriteLocked(keepsContent: keepsContent, change)
    }
  }

  /// Runs work that changes the file, even if the caller is cancelled.
  func run<Value: Sendable>(
    _ body: @escaping @Sendable (TokenFile) throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    try await queue.run { () throws(SQOAuthError) in try body(self) }
  }

  /// Runs work unless the caller is cancelled while it waits for earlier calls.
  func runIfWanted<Value: Sendable>(
    _ body: @escaping @Sendable (TokenFile) throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    try await queue.run(unlessCancelled: .waitCancelled) { () throws(SQOAuthError) in
      try body(self)
    }
  }
}

// Functions that block their thread, and therefore run on the queue.
extension TokenFile {
  /// Reads, changes and writes the file; the caller holds the file's lock.
  ///
  /// If `id` is given, that account's write-ahead copy is removed.
  func rewriteLocked(
    keepsContent: Bool = true, copyOf id: String? = nil,
    _ change: (Format.Content?, Format) throws(SQOAuthError) -> Format.Content?
  ) throws(SQOAuthError) {
    let old = try content()
    let new = try naming("be written") { () throws(SQOAuthError) in
      try change(old, format).map { content throws(SQOAuthError) in
        Latest(bytes: try format.encode(content), content: content)
      }
    }
    if let new {
      try reported("be written") { () throws(FileFailure) in try file.replace(with: new.bytes) }
      keep(keepsContent ? new : nil)
    }
    // The write-ahead copy is now outdated, so a failure to remove it does no harm.
    if let id { try? writeAheadCopies.remove(id, format.sealer) }
  }

  /// Reads and decodes the file; returns `nil` if the file does not exist.
  func content() throws(SQOAuthError) -> Format.Content? {
    let bytes = try reported("be read") { () throws(FileFailure) in
      try file.read(recognizing: format.recognizes)
    }
    guard let bytes else { return nil }
    if let latest = latest.withLock({ $0 }), latest.bytes == bytes { return latest.content }
    let content = try naming("be read") { () throws(SQOAuthError) in try format.decode(bytes) }
    keep(Latest(bytes: bytes, content: content))
    return content
  }

  private func keep(_ new: Latest?) {
    let kept = new.flatMap { $0.bytes.count <= Latest.maximumBytes ? $0 : nil }
    latest.withLock { $0 = kept }
  }

  func lock() throws(SQOAuthError) -> FileLock {
    try reported("be locked") { () throws(FileFailure) in try file.lock(limit: lockLimit) }
  }

  /// Checks that the file can be replaced; the caller holds the file's lock.
  func checkReplacing() throws(SQOAuthError) {
    try reported("be written") { () throws(FileFailure) in try file.checkReplacing() }
  }

  /// Adds the file's path to an error that does not name it.
  func naming<Value>(
    _ what: String, _ body: () throws(SQOAuthError) -> Value
  ) throws(SQOAuthError) -> Value {
    do throws(SQOAuthError) {
      return try body()
    } catch {
      throw error.naming("\(name) cannot \(what)")
    }
  }

  private func reported<Value>(
    _ what: String, _ calls: () throws(FileFailure) -> Value
  ) throws(SQOAuthError) -> Value {
    try FileFailure.reported("\(name) cannot \(what)", calls)
  }

  private var name: String { "the token file \(file.path.printable)" }
}

extension SQOAuthError {
  /// Returns the error with words before its message, such as the name of a file.
  package func naming(_ place: String) -> SQOAuthError {
    var error = self
    error.message = "\(place): \(message)"
    return error
  }

  /// Creates the error for stored data that a later version of the SDK wrote.
  package static func tooNew(_ what: String) -> SQOAuthError {
    SQOAuthError(
      .storeTooNew, "\(what) is newer than this program; use a newer version of the program")
  }

  /// The error for a damaged file of a store; the caller adds the file's name.
  package static let damagedFile = SQOAuthError(
    .storeDamaged,
    "it is damaged and was not changed; restore a copy, or remove it and sign in again")
}
