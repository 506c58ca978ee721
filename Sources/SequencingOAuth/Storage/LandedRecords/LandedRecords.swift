package import SQBasics
import SQCrypto
import SQFiles

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The landing files beside one store: one for each account that is being refreshed.
///
/// A landing file keeps the record with the answer to a refresh until the store has that record. If
/// a process ends in between, the next process that loads the account finds the record there. The
/// file is protected as the store is: if the store is sealed, the file is sealed too, and its name
/// does not reveal the account's. The calls block their thread. Only the holder of the account's
/// lease creates a landing file.
package struct LandedRecords: Sendable {
  /// The least space that is reserved, in bytes, for a record and for what a server may add to it.
  package static let smallestRoom = 64 * 1024
  private static let purpose = "landing"

  private let store: String

  /// Makes the landing files of the store at a path.
  package init(store path: String) {
    store = path
  }

  /// The successor of a stored record, if it has landed and is not in the store yet.
  package func landed(
    after stored: AccountRecord, _ sealer: RecordSealer?
  ) throws(SQOAuthError) -> AccountRecord? {
    guard var content = try content(of: path(stored.id, sealer)) else { return nil }
    if let sealer {
      guard let opened = try? sealer.open(content, as: Self.purpose, with: Data(stored.id.utf8))
      else { return nil }
      content = opened
    }
    guard let landing = try? JSONDecoder().decode(LandedRecord.self, from: content),
      landing.follows(stored)
    else { return nil }
    return landing.record
  }

  private func content(of path: String) throws(SQOAuthError) -> Data? {
    // An error must be thrown: the file may hold the only refresh token that the server accepts.
    let bytes = try reported(path, "be read") { file throws(FileFailure) in try file.read() }
    guard let bytes else { return nil }
    return try LandedRecordFrame.content(of: bytes)
  }

  /// Creates an account's landing file, with space for the successor of a stored record.
  package func reserve(
    after stored: AccountRecord, _ sealer: RecordSealer?, syncingOn queue: BlockingQueue
  ) throws(SQOAuthError) -> AccountReservation {
    let file = try make(
      path(stored.id, sealer), size: max(Self.smallestRoom, 4 * (try stored.json().count)))
    return AccountReservation(
      land: { record in
        // The save that follows reports what goes wrong.
        guard let content = try? Self.encode(LandedRecord(record, after: stored), sealer),
          (try? file.write(LandedRecordFrame.framed(content))) != nil
        else { return }
        await queue.run { file.sync() }
      },
      release: { file.finish() })
  }

  /// Throws if the store's path can be a folder's only.
  package func checkPath() throws(SQOAuthError) {
    try FileFailure.reported("the store \(store.printable) cannot be made") {
      () throws(FileFailure) in try PrivateFile(path: store).refuseFolder()
    }
  }

  /// Checks that a landing file can be created, and leaves no file; a missing folder is made.
  package func check() throws(SQOAuthError) {
    // As long as a landing file's name, which has room for fewer letters than the store's own.
    let name = try CryptoFailure.reported { () throws(CryptoFailure) in try RandomBytes.make(16) }
    let path = "\(store).landing-\(Hexadecimal.encode(name))"
    try reported(path, "be made") { file throws(FileFailure) in try file.makeFolder() }
    // A store that is replaced whole needs its own size a second time.
    let size = (try? FileStatus(at: store))?.size ?? 0
    try make(path, size: Int(size) + Self.smallestRoom).finish()
  }

  /// Whether an account has a landing file, empty or not.
  package func has(_ id: String, _ sealer: RecordSealer?) -> Bool {
    guard let path = try? path(id, sealer) else { return false }
    return PrivateFile(path: path).isThere
  }

  /// Whether the store itself exists.
  package var hasStore: Bool { PrivateFile(path: store).isThere }

  /// Removes an account's landing file, if there is one.
  package func remove(_ id: String, _ sealer: RecordSealer?) throws(SQOAuthError) {
    try reported(path(id, sealer), "be removed") { file throws(FileFailure) in try file.remove() }
  }

  private func make(_ path: String, size: Int) throws(SQOAuthError) -> LandedRecordFile {
    try reported(path, "be made") { file throws(FileFailure) in
      try LandedRecordFile(making: file, size: size)
    }
  }

  private static func encode(
    _ landing: LandedRecord, _ sealer: RecordSealer?
  ) throws -> Data {
    let content = try JSONEncoder().encode(landing)
    guard let sealer else { return content }
    return try sealer.seal(content, as: purpose, with: Data(landing.record.id.utf8))
  }

  private func path(_ id: String, _ sealer: RecordSealer?) throws(SQOAuthError) -> String {
    let name = try sealer?.name(of: id) ?? Digest.quickSHA256(Data(id.utf8)).prefix(16)
    return "\(store).landing-\(Hexadecimal.encode(name))"
  }

  private func reported<Value>(
    _ path: String, _ what: String, _ calls: (PrivateFile) throws(FileFailure) -> Value
  ) throws(SQOAuthError) -> Value {
    try FileFailure.reported(
      "the file \(path.printable), which keeps the next token, cannot \(what)"
    ) { () throws(FileFailure) in try calls(PrivateFile(path: path)) }
  }
}
