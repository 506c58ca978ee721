package import SQBasics
import SQCrypto
import SQFiles
import SQFoundation

/// The write-ahead copies next to one store: one file for each account during its refresh.
///
/// The file keeps the new record from a refresh until the store has that record. If a process ends
/// in between, the next process that loads the account finds the record there. The file has the
/// same protection as the store: if the store is sealed, the file is sealed too, and its name does
/// not reveal the account's name. The calls block their thread. Only the holder of the account's
/// lease creates the file.
package struct WriteAheadCopies: Sendable {
  /// The minimum space to reserve, in bytes, for a record and for data that a server may add to it.
  package static let minimumSize = 64 * 1024
  private static let purpose = "landing"

  private let store: String

  /// Creates the collection of copies for the store at a path; it touches no file.
  package init(store path: String) {
    store = path
  }

  /// Returns the successor of a stored record from its write-ahead copy; `nil` if there is none.
  ///
  /// - Throws: ``SQOAuthError/Code/storeTooNew`` if a later version of the SDK wrote the copy. It
  ///   may have the only refresh token that is still valid.
  package func copy(
    after stored: AccountRecord, _ sealer: RecordSealer?
  ) throws(SQOAuthError) -> AccountRecord? {
    let path = try path(stored.id, sealer)
    guard var content = try content(of: path) else { return nil }
    if let sealer {
      do throws(SQOAuthError) {
        content = try sealer.open(content, as: Self.purpose, with: Data(stored.id.utf8))
      } catch {
        guard error.code == .storeDamaged else { throw error }
        return nil
      }
    }
    let copyOf = try StoredDecoder.whole(
      WriteAheadCopy.self, from: content,
      named: "the record in the file \(path.printable) for the next token")
    return copyOf.follows(stored) ? copyOf.record : nil
  }

  /// Returns whether a record is safe in its write-ahead copy, although the store does not have it.
  ///
  /// A copy whose sync failed does not count: it would not survive a loss of power.
  package func hasSynced(
    _ record: AccountRecord, after stored: AccountRecord, _ sealer: RecordSealer?
  ) -> Bool {
    guard let path = try? path(record.id, sealer), WriteAheadFile.isSynced(path) else {
      return false
    }
    return (try? copy(after: stored, sealer)) == record
  }

  private func content(of path: String) throws(SQOAuthError) -> Data? {
    // A read error must not be ignored, because the file may contain the only refresh token that is
    // still valid.
    let bytes = try reported(path, "be read") { file throws(FileFailure) in try file.read() }
    guard let bytes else { return nil }
    do throws(SQOAuthError) {
      return try WriteAheadFrame.content(of: bytes)
    } catch {
      throw error.naming(Self.failure(path, "be read"))
    }
  }

  /// Creates the file for an account's write-ahead copy, with space for a stored record's
  /// successor.
  package func reserve(
    after stored: AccountRecord, _ sealer: RecordSealer?, syncingOn queue: BlockingQueue
  ) throws(SQOAuthError) -> AccountReservation {
    let file = try make(
      path(stored.id, sealer), size: max(Self.minimumSize, 4 * (try stored.json().count)))
    return AccountReservation(
      writeAhead: { record in
        // An error is ignored here: the save that follows throws if it cannot store the record.
        guard let content = try? Self.encode(WriteAheadCopy(record, after: stored), sealer),
          (try? file.write(WriteAheadFrame.framed(content))) != nil
        else { return }
        await queue.run { file.sync() }
      },
      release: { file.finish() })
  }

  /// Throws if the store's path can only be a folder's path.
  package func checkPath() throws(SQOAuthError) {
    try FileFailure.reported("the store \(store.printable) cannot be made") {
      () throws(FileFailure) in try PrivateFile(path: store).refuseFolder()
    }
  }

  /// Checks that a write-ahead copy can be created; creates a missing folder, but leaves no file.
  ///
  /// With `replacingStore`, it also checks that the disk has space for a second file of the store's
  /// size, which a store needs if each save replaces its whole file.
  package func check(replacingStore: Bool) throws(SQOAuthError) {
    // The path is as long as a write-ahead copy's path, so the check fails if such a path is too
    // long.
    let name = try CryptoFailure.reported { () throws(CryptoFailure) in try RandomBytes.make(16) }
    let path = self.path(named: Hexadecimal.encode(name))
    try reported(path, "be made") { file throws(FileFailure) in try file.makeFolder() }
    let size = replacingStore ? (try? FileStatus(at: store))?.size ?? 0 : 0
    try make(path, size: Int(size) + Self.minimumSize).finish()
  }

  /// Returns whether an account has the file of a write-ahead copy, even an empty one.
  package func has(_ id: String, _ sealer: RecordSealer?) throws(SQOAuthError) -> Bool {
    try reported(path(id, sealer), "be looked for") { file throws(FileFailure) in
      try file.exists()
    }
  }

  /// Returns whether the store itself exists.
  package func hasStore() throws(SQOAuthError) -> Bool {
    try FileFailure.reported("the store \(store.printable) cannot be looked for") {
      () throws(FileFailure) in try PrivateFile(path: store).exists()
    }
  }

  /// Removes an account's write-ahead copy, if there is one.
  package func remove(_ id: String, _ sealer: RecordSealer?) throws(SQOAuthError) {
    try reported(path(id, sealer), "be removed") { file throws(FileFailure) in try file.remove() }
  }

  /// The names of all write-ahead copies next to the store, of any account and for any key.
  package var names: [String] {
    let file = PrivateFile(path: store)
    let start = "\(file.name).landing-".utf8
    let files = (try? FileManager.default.contentsOfDirectory(atPath: file.folder)) ?? []
    return files.filter { $0.utf8.starts(with: start) }
      .map { String(Substring($0.utf8.dropFirst(start.count))) }
      .filter { $0.utf8.count == 32 && Hexadecimal.decode($0) != nil }
  }

  /// Removes the named write-ahead copies, except those of some accounts under a key.
  ///
  /// After a change of the key, nothing can read the copies for the old key, and nothing can compute
  /// their names. Read ``names`` before the accounts' IDs: an account that another process adds in
  /// between then keeps its copy.
  package func remove(
    _ names: [String], exceptOf ids: [String], _ sealer: RecordSealer?
  ) throws(SQOAuthError) {
    var names = Set(names)
    guard !names.isEmpty else { return }
    for id in ids { names.remove(try name(id, sealer)) }
    for name in names {
      try reported(path(named: name), "be removed") { file throws(FileFailure) in
        try file.remove()
      }
    }
  }

  private func make(_ path: String, size: Int) throws(SQOAuthError) -> WriteAheadFile {
    try reported(path, "be made") { file throws(FileFailure) in
      try WriteAheadFile(making: file, size: size)
    }
  }

  private static func encode(
    _ copyOf: WriteAheadCopy, _ sealer: RecordSealer?
  ) throws -> Data {
    let content = try copyOf.json()
    guard let sealer else { return content }
    return try sealer.seal(content, as: purpose, with: Data(copyOf.record.id.utf8))
  }

  private func path(_ id: String, _ sealer: RecordSealer?) throws(SQOAuthError) -> String {
    path(named: try name(id, sealer))
  }

  private func path(named name: String) -> String { "\(store).landing-\(name)" }

  private func name(_ id: String, _ sealer: RecordSealer?) throws(SQOAuthError) -> String {
    Hexadecimal.encode(
      try sealer?.name(of: id) ?? Digest.quickSHA256(Data(id.utf8)).prefix(16))
  }

  private func reported<Value>(
    _ path: String, _ what: String, _ calls: (PrivateFile) throws(FileFailure) -> Value
  ) throws(SQOAuthError) -> Value {
    try FileFailure.reported(Self.failure(path, what)) { () throws(FileFailure) in
      try calls(PrivateFile(path: path))
    }
  }

  private static func failure(_ path: String, _ what: String) -> String {
    "the file \(path.printable) for the next token cannot \(what)"
  }
}
