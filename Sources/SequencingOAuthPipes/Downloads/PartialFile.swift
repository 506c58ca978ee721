import SQBasics
import SQFiles
import SQFoundation
import SequencingOAuth

/// The file of an incomplete download: `NAME.partial` in the destination's folder.
///
/// The download locks the file against all other downloads, including those of other processes.
/// `NAME.partial.info` holds the ``DownloadRecord``. The record is written to the disk before the
/// first byte, and removed after the file was moved to the destination. If the process is killed at
/// any point, either the two files are correct, or the next download starts at the first byte.
/// After a power failure, only the bytes that an earlier call has synced are used, because the file
/// system may have lengthened the file before it wrote the other bytes.
///
/// The server may have chosen NAME, so the user may already have a file of either name. If
/// `NAME.partial` has bytes but no record, or if `NAME.partial.info` is not a record, no download
/// wrote the files. The download then changes neither file and fails before it sends a request.
///
/// One task at a time uses it. Its file operations run on a separate queue.
final class PartialFile: @unchecked Sendable {
  /// The number of bytes in the file.
  private(set) var length: Int64 = 0
  /// The record of the resource; `nil` if the download cannot be resumed later.
  private(set) var record: DownloadRecord?
  /// The user whose bytes these are; `nil` if they are the same for all users.
  private(set) var owner: String?

  private let destination: String
  /// Whether to replace a file at the destination.
  private let replaces: Bool
  private let url: URL
  private let partial: PrivateFile
  private let lock: FileLock
  private var recordFile: PrivateFile
  /// The file opened a second time, to learn of each write that has failed since.
  ///
  /// The system reports such an error once for each opening. On a file server, a later write may
  /// take it, and then a sync of the same opening succeeds.
  private var witness: FileDescriptor?
  private let queue = BlockingQueue("download")
  private var isOpen = true

  /// Opens and locks the partial file of a destination.
  ///
  /// The file then contains the usable bytes of an earlier download of any URL; call
  /// ``keepBytes(of:)`` next.
  static func locked(_ download: ResumableDownload) async throws(SQOAuthError) -> PartialFile {
    try await BlockingQueue("download").run { () throws(SQOAuthError) in
      try PartialFile(download)
    }
  }

  private init(_ download: ResumableDownload) throws(SQOAuthError) {
    replaces = download.replacesFile
    url = download.request.url
    destination = try Self.checked(download.destination, replaces: replaces)
    partial = PrivateFile(path: "\(destination).partial")
    recordFile = PrivateFile(path: "\(partial.path).info")
    // This check comes before the lock, because the lock creates the file.
    if try Self.record(at: recordFile.path) != nil {
      try Self.finishMove(from: partial.path, to: destination)
    }
    lock = try Self.lock(partial.path, recordFile.path)
    let content = try Self.record(at: recordFile.path)
    try Self.reported(partial.path) { () throws(FileFailure) in try useRecord(content) }
  }

  deinit {
    release()
  }

  /// Drops the bytes of another URL or of another user.
  func keepBytes(of owner: String?) async throws(SQOAuthError) {
    self.owner = owner
    guard let record, !record.isOf(url, owner) else { return }
    try await run { [self] () throws(FileFailure) in
      self.record = nil
      try truncate(0)
    }
  }

  // MARK: While bytes come

  /// Empties the file for new content; `record` is `nil` if its download cannot be resumed.
  func begin(_ record: DownloadRecord?) async throws(SQOAuthError) {
    try await run { [self] () throws(FileFailure) in
      // Writes may reach the disk in any order, and the new record must never be there together
      // with bytes of the old resource.
      try truncate(0)
      try lock.file.sync()
      try save(record)
    }
  }

  /// Removes the bytes after `length`, if there are any.
  func cut(to length: Int64) async throws(SQOAuthError) {
    guard length < self.length else { return }
    try await run { [self] () throws(FileFailure) in
      if var record, record.synced > length {
        record.synced = length
        try save(record)
      }
      try truncate(length)
    }
  }

  /// Stores the length of the whole resource after a response has announced it.
  func learn(total: Int64) async throws(SQOAuthError) {
    guard var record else { return }
    record.total = total
    try await run { [self, record] () throws(FileFailure) in try save(record) }
  }

  func append(_ data: Data) async throws(SQOAuthError) {
    try await run { [self] () throws(FileFailure) in
      var rest = data
      while !rest.isEmpty {
        let count = try lock.file.writeSome(rest, at: length)
        length += Int64(count)
        rest = rest.dropFirst(count)
      }
    }
  }

  // MARK: At the end

  /// Syncs the complete file, moves it to the destination and releases the lock.
  ///
  /// If only the sync of the folder fails, that is no error: the file is complete and in its place,
  /// and another call might find that a file exists. A power failure could still undo the move.
  func finish() async throws(SQOAuthError) {
    try await run(on: destination) { [self] () throws(FileFailure) in
      do throws(FileFailure) {
        try lock.file.sync()
      } catch {
        // It is unknown which bytes have reached the disk, so no later call may use them.
        try save(nil)
        throw error
      }
      try place()
      // If the process is killed here, it leaves a record without a file. That does no harm, but a
      // file without its record would look like a file of the user.
      removeRecord()
      release()
      try? recordFile.syncFolder()
    }
  }

  /// Keeps the bytes for a later call, or removes the files if a later call could not use them.
  func leave() async {
    try? await queue.run { [self] () throws(SQOAuthError) in
      guard isOpen else { return }
      if var record, length > 0, (try? lock.file.sync()) != nil,
        (try? witness?.sync()) != nil
      {
        record.synced = length
        try? save(record)
      } else {
        // The record is removed last, because bytes without a record look like a file of the user.
        try? partial.remove()
        removeRecord()
      }
      release()
    }
  }

  // MARK: On the queue

  private func useRecord(_ content: Data?) throws(FileFailure) {
    witness = try .reading(partial.path)
    let status = try lock.file.status()
    let size = status.size
    let hasModes = status.isClosedToOthers
    if !hasModes { recordFile = PrivateFile(path: recordFile.path, trust: .withoutModes) }
    // Others may have written a record that they can use.
    let isClosed = try FileStatus(at: recordFile.path)?.isClosedToOthers == true
    if let content, isClosed || !hasModes, var record = DownloadRecord(content) {
      length = record.trusted(size)
      if length > 0 {
        self.record = record
        record.continueInThisBoot()
        record.synced = min(record.synced, length)
        try save(record)
      }
    }
    if length < size { try truncate(length) }
  }

  private func place() throws(FileFailure) {
    guard !replaces else { return try partial.move(to: destination) }
    guard try partial.moveIfFree(to: destination) else { throw .exists }
  }

  private func truncate(_ length: Int64) throws(FileFailure) {
    try lock.file.truncate(to: length)
    self.length = length
  }

  private func save(_ record: DownloadRecord?) throws(FileFailure) {
    if record == nil || record != self.record {
      try recordFile.replace(with: (record ?? DownloadRecord(unusableFrom: url)).json)
    }
    self.record = record
  }

  private func removeRecord() {
    // If a partial file exists again, another download has started, and the record belongs to it.
    guard (try? partial.exists()) == false else { return }
    try? recordFile.remove()
  }

  private func release() {
    guard isOpen else { return }
    isOpen = false
    witness?.close()
    lock.release()
  }

  private func run(
    on path: String? = nil, _ work: @escaping @Sendable () throws(FileFailure) -> Void
  ) async throws(SQOAuthError) {
    try await queue.run { [path = path ?? partial.path] () throws(SQOAuthError) in
      try Self.reported(path, work)
    }
  }
}
