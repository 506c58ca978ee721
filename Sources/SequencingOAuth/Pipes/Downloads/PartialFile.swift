#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The file `NAME.partial` in the destination's folder, which holds a download's bytes until all
/// are there.
///
/// The download locks the file against all other downloads, also of other processes.
/// `NAME.partial.info` holds the ``DownloadRecord``. It is written to the disk before the first
/// byte and removed before the file gets the destination's name. So a process may be killed at any
/// point: either the two files are right, or the download starts from the first byte. After a loss
/// of power, only the bytes count that an earlier call has synced, since the file system may have
/// lengthened the file before it wrote the others.
///
/// One task at a time uses it. Its file operations run on a separate queue.
final class PartialFile: @unchecked Sendable {
  /// How many bytes the file has.
  private(set) var length: Int64 = 0
  /// The record of the bytes' resource; `nil` if the download cannot be resumed later.
  private(set) var record: DownloadRecord?

  private let destination: String
  private let partial: PrivateFile
  private let lock: FileLock
  private let recordFile: PrivateFile
  private let queue = BlockingQueue("download")
  private var isOpen = true

  /// Opens and locks the partial file of a destination, with the bytes that an earlier download of
  /// the URL has left.
  static func locked(
    _ destination: URL, of url: URL
  ) async throws(SQOAuthError) -> PartialFile {
    try await BlockingQueue("download").run { () throws(SQOAuthError) in
      try PartialFile(destination, url)
    }
  }

  private init(_ destination: URL, _ url: URL) throws(SQOAuthError) {
    self.destination = try Self.checked(destination)
    let path = "\(self.destination).partial"
    partial = PrivateFile(path: path)
    recordFile = PrivateFile(path: "\(path).info")
    lock = try Self.lock(path)
    try Self.reported(path) { () throws(FileError) in try readRecord(url) }
  }

  deinit {
    release()
  }

  // MARK: While bytes come

  /// Empties the file for another resource; `record` is `nil` if its download cannot be resumed.
  func begin(_ record: DownloadRecord?) async throws(SQOAuthError) {
    try await run { [self] () throws(FileError) in
      // Writes may reach the disk in any order, and the new record must never be on it with bytes
      // of the old resource.
      try truncate(0)
      if record != nil { try lock.file.sync() }
      try save(record)
    }
  }

  /// Removes the bytes after `length`, if there are any.
  func cut(to length: Int64) async throws(SQOAuthError) {
    guard length < self.length else { return }
    try await run { [self] () throws(FileError) in
      if var record, record.synced > length {
        record.synced = length
        try save(record)
      }
      try truncate(length)
    }
  }

  /// Stores the length of the whole resource, which was not known before.
  func learn(total: Int64) async throws(SQOAuthError) {
    guard var record else { return }
    record.total = total
    try await run { [self, record] () throws(FileError) in try save(record) }
  }

  func append(_ data: Data) async throws(SQOAuthError) {
    try await run { [self] () throws(FileError) in
      var rest = data
      while !rest.isEmpty {
        let count = try lock.file.writeSome(rest, at: length)
        length += Int64(count)
        rest = rest.dropFirst(count)
      }
    }
  }

  // MARK: At the end

  /// Syncs the complete file, gives it the destination's name and releases the lock.
  func finish() async throws(SQOAuthError) {
    try await run(on: destination) { [self] () throws(FileError) in
      let isSynced = Result { () throws(FileError) in try lock.file.sync() }
      let record = record
      // The record is removed before the move, since after it, another download may write its own
      // record. It is also removed if the sync failed, since it is unknown which bytes are on the
      // disk then.
      try save(nil)
      try isSynced.get()
      do throws(FileError) {
        try partial.move(to: destination)
      } catch {
        try save(record)
        throw error
      }
      release()
      try recordFile.syncFolder()
    }
  }

  /// Keeps the bytes for a later call, or removes the files if a later call could not use them.
  func leave() async {
    try? await queue.run { [self] () throws(SQOAuthError) in
      guard isOpen else { return }
      if var record, length > 0, (try? lock.file.sync()) != nil {
        record.synced = length
        try? save(record)
      } else {
        try? recordFile.remove()
        try? partial.remove()
      }
      release()
    }
  }

  // MARK: On the queue

  private func readRecord(_ url: URL) throws(FileError) {
    let size = try lock.file.status().size
    // A record that cannot be read is ignored.
    if let content = try? recordFile.read(), var record = DownloadRecord(content, url: url) {
      self.record = record
      length = record.trusted(size)
      record.continueInThisBoot()
      record.synced = min(record.synced, length)
      try save(length > 0 ? record : nil)
    }
    if length < size { try truncate(length) }
  }

  private func truncate(_ length: Int64) throws(FileError) {
    try lock.file.truncate(to: length)
    self.length = length
  }

  private func save(_ record: DownloadRecord?) throws(FileError) {
    if let record, record != self.record {
      try recordFile.replace(with: record.json)
    } else if record == nil {
      try? recordFile.remove()
    }
    self.record = record
  }

  private func release() {
    guard isOpen else { return }
    isOpen = false
    lock.release()
  }

  private func run(
    on path: String? = nil, _ work: @escaping @Sendable () throws(FileError) -> Void
  ) async throws(SQOAuthError) {
    try await queue.run { [path = path ?? partial.path] () throws(SQOAuthError) in
      try Self.reported(path, work)
    }
  }
}
