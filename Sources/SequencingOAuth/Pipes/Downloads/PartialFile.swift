#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The bytes of a download until it is complete: `NAME.partial` beside the file that it will be.
///
/// Whoever has it open has it locked, in all processes. `NAME.partial.info` says what the bytes are
/// of; it is on the disk before the first of them is written, and gone before the file gets its
/// name. So a process may be killed at any point: what the two files say is true, or the download
/// starts anew. After a loss of power only those bytes count that an earlier end has synced, since
/// a file system may have lengthened the file before it wrote the others.
///
/// It is used by one task at a time, and works on a queue of its own.
final class PartialFile: @unchecked Sendable {
  /// How many bytes there are.
  private(set) var length: Int64 = 0
  /// What they are of; `nil` where they cannot be continued later.
  private(set) var record: DownloadRecord?

  private let destination: String
  private let partial: PrivateFile
  private let lock: FileLock
  private let recordFile: PrivateFile
  private let queue = BlockingQueue("download")
  private var isOpen = true

  /// Opens the partial file of a destination, with what an earlier download of the URL has left.
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

  /// Starts with another resource; `record` is `nil` where it cannot be resumed.
  func begin(_ record: DownloadRecord?) async throws(SQOAuthError) {
    try await run { [self] () throws(FileError) in
      // Bytes of the one must never stand beside the record of the other, whatever reaches the
      // disk first.
      try truncate(0)
      if record != nil { try lock.file.sync() }
      try save(record)
    }
  }

  /// Takes bytes away at the end.
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

  /// Notes the length of the whole, which was not known before.
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

  /// Gives the complete file its name, for good.
  func finish() async throws(SQOAuthError) {
    try await run(on: destination) { [self] () throws(FileError) in
      let isSynced = Result { () throws(FileError) in try lock.file.sync() }
      let record = record
      // Before the name: once that is given, another download may have a record here. And where
      // the disk failed, nobody knows which of the bytes are on it.
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

  /// Leaves what there is to a later call, and nothing where that could not use it.
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
    // One that cannot be read is as good as none.
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
