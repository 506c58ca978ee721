import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a token file holds: records, which are there or are made when they are asked for.
protocol TokenFileContent: Sendable {
  var ids: [String] { get }
  func record(_ id: String) throws(SQOAuthError) -> AccountRecord?
  mutating func save(_ record: AccountRecord) throws(SQOAuthError)
  mutating func erase(_ id: String)
}

/// How a token file is written.
///
/// Its messages do not name the file, but go on after "the file cannot be read:".
protocol TokenFileFormat: Sendable {
  associatedtype Content: TokenFileContent
  /// What seals the records, where they are sealed and the file was read or made before.
  var sealer: RecordSealer? { get }
  /// Refuses a key with which no file could be made; makes nothing.
  func checkKey() throws(SQOAuthError)
  /// The content of a file that is not there yet.
  func create() throws(SQOAuthError) -> Content
  func decode(_ bytes: Data) throws(SQOAuthError) -> Content
  func encode(_ content: Content) throws(SQOAuthError) -> Data
}

extension TokenFileFormat {
  /// A content, or a new one where there is none.
  func existing(_ content: Content?) throws(SQOAuthError) -> Content {
    if let content { return content }
    return try create()
  }
}

/// One file of records that any number of processes read and replace whole.
///
/// A file that cannot be understood is an error and is never written over.
final class TokenFile<Format: TokenFileFormat>: Sendable {
  let format: Format
  let landings: Landings
  private let file: PrivateFile
  let locks: AccountLocks
  let queue = BlockingQueue("TokenFile")
  private let latest = Locked<Latest?>(nil)

  /// The file as it was last read or written: to compare bytes takes much less than to read them.
  private struct Latest {
    /// Those of a larger file are not kept.
    static var maximumBytes: Int { 64 * 1024 }

    let bytes: Data
    let content: Format.Content
  }

  init(path: String, format: Format) {
    self.format = format
    file = PrivateFile(path: path)
    locks = AccountLocks(folder: path + ".locks")
    landings = Landings(store: path)
  }

  /// Whether there is a file, which is then one that can be read.
  func exists() async throws(SQOAuthError) -> Bool {
    try await run { file throws(SQOAuthError) in try file.content() != nil }
  }

  func load(_ id: String) async throws(SQOAuthError) -> AccountRecord? {
    try await run { file throws(SQOAuthError) in
      try file.content().map { content throws(SQOAuthError) in
        try file.record(id, in: content)
      } ?? nil
    }
  }

  func save(_ record: AccountRecord) async throws(SQOAuthError) {
    do throws(SQOAuthError) {
      try await rewrite(landing: record.id) { content, format throws(SQOAuthError) in
        var content = try format.existing(content)
        try content.save(record)
        return content
      }
    } catch {
      // It is safe where it landed, and the next change of the account puts it into the file.
      guard error.code == .storeFailed, await hasLanded(record) else { throw error }
    }
  }

  func erase(_ id: String) async throws(SQOAuthError) {
    try await rewrite { [landings] content, format throws(SQOAuthError) in
      // Before the record, so that no end of the process leaves a token of a user who signed out.
      try landings.remove(id, format.sealer)
      var content = content
      content?.erase(id)
      return content
    }
  }

  func list() async throws(SQOAuthError) -> [String] {
    try await run { file throws(SQOAuthError) in try file.content()?.ids.sorted() ?? [] }
  }

  func all() async throws(SQOAuthError) -> [AccountRecord] {
    try await run { file throws(SQOAuthError) in
      guard let content = try file.content() else { return [] }
      var records: [AccountRecord] = []
      for id in content.ids.sorted() {
        if let record = try file.record(id, in: content) { records.append(record) }
      }
      return records
    }
  }

  func lease(_ id: String) async throws(SQOAuthError) -> AccountLease? {
    try await run { file throws(SQOAuthError) in try file.locks.lease(id) }
  }

  func leaseHolder(_ id: String) async -> String? {
    try? await run { file throws(SQOAuthError) in file.locks.holder(id) }
  }

  /// Reads, changes and writes the file while no other process does; what is `nil` is not written.
  ///
  /// Content that is not kept is read again before it is used, so that the format sees that it was
  /// written. The landing file of the account that changed goes.
  func rewrite(
    keepsContent: Bool = true, landing id: String? = nil,
    _ change:
      @escaping @Sendable (Format.Content?, Format) throws(SQOAuthError) -> Format.Content?
  ) async throws(SQOAuthError) {
    try await run { file throws(SQOAuthError) in
      let lock = try file.lock()
      defer { lock.release() }
      try file.rewriteLocked(keepsContent: keepsContent, landing: id, change)
    }
  }

  func run<Value: Sendable>(
    _ body: @escaping @Sendable (TokenFile) throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    try await queue.run { () throws(SQOAuthError) in try body(self) }
  }
}

// What blocks, on the queue.
extension TokenFile {
  /// Reads, changes and writes the file, whose lock is held.
  func rewriteLocked(
    keepsContent: Bool = true, landing id: String?,
    _ change: (Format.Content?, Format) throws(SQOAuthError) -> Format.Content?
  ) throws(SQOAuthError) {
    let old = try content()
    let new = try naming("be written") { () throws(SQOAuthError) in
      try change(old, format).map { content throws(SQOAuthError) in
        Latest(bytes: try format.encode(content), content: content)
      }
    }
    if let new {
      try reported("be written") { () throws(FileError) in try file.replace(with: new.bytes) }
      keep(keepsContent ? new : nil)
    }
    // What is left there does not count any more.
    if let id { try? landings.remove(id, format.sealer) }
  }

  /// What the file holds, or `nil` where there is none.
  func content() throws(SQOAuthError) -> Format.Content? {
    let bytes = try reported("be read") { () throws(FileError) in try file.read() }
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
    try reported("be locked") { () throws(FileError) in try file.lock() }
  }

  /// Names the file in an error that does not.
  func naming<Value>(
    _ what: String, _ body: () throws(SQOAuthError) -> Value
  ) throws(SQOAuthError) -> Value {
    do throws(SQOAuthError) {
      return try body()
    } catch {
      throw SQOAuthError(
        error.code, "\(name) cannot \(what): \(error.message)", cause: error.cause)
    }
  }

  private func reported<Value>(
    _ what: String, _ calls: () throws(FileError) -> Value
  ) throws(SQOAuthError) -> Value {
    try FileError.reported("\(name) cannot \(what)", calls)
  }

  private var name: String { "the token file \(file.path.printable)" }
}
