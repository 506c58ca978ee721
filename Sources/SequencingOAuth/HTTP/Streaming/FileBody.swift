#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A file that is read or written piece by piece, by one task at a time.
final class OpenFile: @unchecked Sendable {
  static let pieceSize = 1024 * 1024

  private let file: FileDescriptor
  /// The last piece, whose memory the next one uses again when no caller has it any more.
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

  /// Makes a file that only its owner may read, or empties the one that is there.
  static func writing(_ url: URL) throws(FileError) -> OpenFile {
    try OpenFile(url) { path throws(FileError) in try .writing(path) }
  }

  /// The length of the file, which must be an ordinary one: a pipe or a device has no length.
  func length() throws(FileError) -> Int64 {
    let status = try file.status()
    guard status.isRegular else { throw .notRegular }
    return status.size
  }

  /// The next piece of at most so many bytes; empty at the end.
  func piece(_ limit: Int64) throws(FileError) -> Data {
    let room = Int(min(limit, Int64(Self.pieceSize)))
    if buffer.count != room { buffer = Data(count: room) }
    let count = try file.fill(&buffer)
    return count == room ? buffer : buffer.prefix(count)
  }

  func append(_ data: Data) throws(FileError) { try file.write(data) }
}

extension UploadQueue {
  /// The queue of a body that is made while it is sent; `nil` for one in memory.
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
          .malformedRequest, "the file to be sent cannot be read: \(error); nothing was sent",
          cause: error)
      }
    }
  }

  /// The pieces of a file up to the length that was announced, should it grow meanwhile.
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

  /// Counts down; touched by the one task that makes the chunks.
  private final class FileRest: @unchecked Sendable {
    var count: Int64

    init(_ count: Int64) {
      self.count = count
    }
  }
}
