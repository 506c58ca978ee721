import SQBasics
package import SQFiles
package import SQFoundation

/// An open file that one task at a time reads or writes in pieces.
///
/// Its blocking calls run on a separate thread. A file may be on a file server that does not
/// respond, and a call must not block a thread of Swift's task pool.
package final class OpenFile: @unchecked Sendable {
  static let pieceSize = 1024 * 1024

  private let queue: BlockingQueue
  private let file: FileDescriptor
  /// The last piece; the next piece reuses its memory if no caller still holds it.
  private var buffer = Data()

  private init(_ file: FileDescriptor, _ queue: BlockingQueue) {
    self.file = file
    self.queue = queue
  }

  deinit {
    file.close()
  }

  package static func reading(_ url: URL) async throws(FileFailure) -> OpenFile {
    try await opening(url) { path throws(FileFailure) in try .reading(path, followsLink: true) }
  }

  /// Creates a file that only its owner can read, or empties an existing file.
  static func writing(_ url: URL) async throws(FileFailure) -> OpenFile {
    try await opening(url) { path throws(FileFailure) in try .writing(path) }
  }

  private static func opening(
    _ url: URL, _ open: @escaping @Sendable (String) throws(FileFailure) -> FileDescriptor
  ) async throws(FileFailure) -> OpenFile {
    guard url.isFileURL else { throw .notRegular }
    let path = try url.systemPath
    let queue = BlockingQueue("file")
    let file = await queue.result { () throws(FileFailure) in try open(path) }
    return OpenFile(try file.get(), queue)
  }

  /// Returns the length of a file; throws for a pipe or a device, because they have no length.
  ///
  /// The call blocks the thread while it opens the file.
  package static func length(of url: URL) throws(FileFailure) -> Int64 {
    guard url.isFileURL else { throw .notRegular }
    let file = try FileDescriptor.reading(url.systemPath, followsLink: true)
    defer { file.close() }
    let status = try file.status()
    guard status.isRegular else { throw .notRegular }
    return status.size
  }

  /// Reads the next piece, of at most `limit` and ``pieceSize`` bytes; empty at the file's end.
  package func piece(_ limit: Int64) async throws(FileFailure) -> Data {
    try await queue.result { [self] () throws(FileFailure) in
      let room = Int(min(limit, Int64(Self.pieceSize)))
      if buffer.count != room { buffer = Data(count: room) }
      let count = try file.fill(&buffer)
      return count == room ? buffer : buffer.prefix(count)
    }.get()
  }

  func append(_ data: Data) async throws(FileFailure) {
    try await queue.result { [self] () throws(FileFailure) in try file.write(data) }.get()
  }

  /// Writes the file to the disk; throws if a part of its content cannot be written.
  ///
  /// A disk or a file server may report only now that it has no space or that a write has failed.
  func finish() async throws(FileFailure) {
    try await queue.result { [self] () throws(FileFailure) in
      // A device such as `/dev/null` cannot be synced.
      if try file.status().isRegular { try file.sync() }
    }.get()
  }
}
