import SQBasics
import SQFiles
import SQFoundation

extension UploadQueue {
  /// Creates a queue for a body from a file or a stream; returns `nil` for a body in memory.
  static func make(_ body: WebRequestBody) async throws(SQOAuthError) -> UploadQueue? {
    switch body {
    case .empty, .bytes: return nil
    case .stream(let length, let makeChunks):
      let queue = UploadQueue(length: length, makeChunks: makeChunks)
      if length == 0 { try await queue.checkEmpty() }
      return queue
    case .file(let url):
      do throws(FileFailure) {
        let length = try await BlockingQueue("file").result { () throws(FileFailure) in
          try OpenFile.length(of: url)
        }.get()
        return UploadQueue(length: length) { chunks(of: url, length) }
      } catch {
        throw SQOAuthError(
          .malformedRequest, "the file to send cannot be read: \(error); nothing was sent",
          cause: FileError(error))
      }
    }
  }

  /// Returns the pieces of a file, up to the announced length even if the file grows in the
  /// meantime.
  private static func chunks(
    of url: URL, _ length: Int64
  ) -> @Sendable () async throws -> Data? {
    let rest = FileRest(length)
    return {
      let file: OpenFile
      if let opened = rest.file { file = opened } else { file = try await .reading(url) }
      rest.file = file
      let piece = try await file.piece(rest.count)
      rest.count -= Int64(piece.count)
      return piece.isEmpty ? nil : piece
    }
  }

  /// The file, once it is open, and the number of its bytes that are left to send.
  ///
  /// Only the task that makes the chunks uses it.
  private final class FileRest: @unchecked Sendable {
    var file: OpenFile?
    var count: Int64

    init(_ count: Int64) {
      self.count = count
    }
  }
}
