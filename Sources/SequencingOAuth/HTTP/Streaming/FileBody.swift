#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An open file that one task at a time reads or writes piece by piece.
final class OpenFile: @unchecked Sendable {
  static let pieceSize = 1024 * 1024

  private let file: FileDescriptor
  /// The last piece; the next one uses its memory again if no caller still holds it.
  private var buffer = Data()

  private init(
    _ url: URL, _ open: (String) throws(FileError) -> FileDescriptor
  ) throws(FileError) {
    guard url.isFileURL else { throw .notRegular }
    file = try open(url.path(percentEncoded: false))
  }

  deinit {
    file.close()
  }

  static func reading(_ url: URL) throws(FileError) -> OpenFile {
    try OpenFile(url) { path throws(FileError) in try .reading(path, followsLink: true) }
  }

  /// Creates a file that only its owner may read, or empties an existing file.
  static func writing(_ url: URL) throws(FileError) -> OpenFile {
    try OpenFile(url) { path throws(FileError) in try .writing(path) }
  }

  /// Returns the length of the file; throws for a pipe or a device, which have no length.
  func length() throws(FileError) -> Int64 {
    let status = try file.status()
    guard status.isRegular else { throw .notRegular }
    return status.size
  }

  /// Reads the next piece, of at most `limit` bytes and ``pieceSize``; it is empty at the end.
  func piece(_ limit: Int64) throws(FileError) -> Data {
    let room = Int(min(limit, Int64(Self.pieceSize)))
    if buffer.count != room { buffer = Data(count: room) }
    let count = try file.fill(&buffer)
    return count == room ? buffer : buffer.prefix(count)
  }

  func append(_ data: Data) throws(FileError) { try file.write(data) }
}

extension UploadQueue {
  /// Makes a queue for a body that is a file or a stream; returns `nil` for a body in memory.
  static func make(_ body: HTTPRequestBody) throws(SQOAuthError) -> UploadQueue? {
    switch body {
    case .empty, .bytes: return nil
    case .stream(let length, let makeChunks):
      return UploadQueue(length: length, makeChunks: makeChunks)
    case .file(let url):
      do throws(FileError) {
        let length = try OpenFile.reading(url).length()
        return UploadQueue(length: length) { try chunks(of: url, length) }
      } catch {
        throw SQOAuthError(
          .malformedRequest, "the file to send cannot be read: \(error); nothing was sent",
          cause: error)
      }
    }
  }

  /// The pieces of a file, up to the announced length even if the file grows in the meantime.
  private static func chunks(
    of url: URL, _ length: Int64
  ) throws(FileError) -> @Sendable () async throws -> Data? {
    let file = try OpenFile.reading(url)
    let rest = FileRest(length)
    return {
      let piece = try file.piece(rest.count)
      rest.count -= Int64(piece.count)
      return piece.isEmpty ? nil : piece
    }
  }

  /// How many bytes of the file are left to send; only the task that makes the chunks uses it.
  private final class FileRest: @unchecked Sendable {
    var count: Int64

    init(_ count: Int64) {
      self.count = count
    }
  }
}
