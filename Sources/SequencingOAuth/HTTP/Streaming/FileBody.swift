#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What the operating system said of a file, as the cause of an ``SQOAuthError``.
public struct HTTPFileError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The `errno`.
  public let code: Int32

  /// What it means.
  public var description: String { String(cString: strerror(code)) }
}

extension HTTPFileError: LocalizedError {
  /// What the code means, which is what `localizedDescription` says.
  public var errorDescription: String? { description }
}

/// A file that is read or written piece by piece, by one task at a time.
final class OpenFile: @unchecked Sendable {
  static let pieceSize = 1024 * 1024

  private let descriptor: Int32
  /// The last piece; its memory is used again where nobody has it any more.
  private var buffer = Data()

  private init(_ url: URL, _ flags: Int32) throws(HTTPFileError) {
    guard url.isFileURL else { throw HTTPFileError(code: EINVAL) }
    descriptor = open(url.path(percentEncoded: false), flags | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw HTTPFileError(code: errno) }
  }

  deinit {
    close(descriptor)
  }

  static func reading(_ url: URL) throws(HTTPFileError) -> OpenFile {
    // Opening a pipe would wait for somebody to write into it.
    try OpenFile(url, O_RDONLY | O_NONBLOCK)
  }

  /// Makes a file that only its owner may read, or empties the one that is there.
  static func writing(_ url: URL) throws(HTTPFileError) -> OpenFile {
    let file = try OpenFile(url, O_WRONLY | O_CREAT | O_TRUNC)
    // A file that its owner could not open again is new: the umask took its rights away.
    if let status = try? FileStatus(of: file.descriptor), status.isRegular,
      status.mode & 0o777 != 0o600, status.mode & 0o777 | 0o600 == 0o600
    {
      fchmod(file.descriptor, 0o600)
    }
    return file
  }

  /// - Throws: `EINVAL` for what is no regular file, and so has no length.
  func length() throws(HTTPFileError) -> Int64 {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw HTTPFileError(code: errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw HTTPFileError(code: EINVAL) }
    return Int64(status.st_size)
  }

  /// The next piece of at most so many bytes; empty at the end.
  func piece(_ limit: Int64) throws(HTTPFileError) -> Data {
    let room = Int(min(limit, Int64(Self.pieceSize)))
    if buffer.count != room { buffer = Data(count: room) }
    let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
    guard count >= 0 else { throw HTTPFileError(code: errno) }
    return count == room ? buffer : buffer.prefix(count)
  }

  func append(_ data: Data) throws(HTTPFileError) {
    var rest = data
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      guard count >= 0 else { throw HTTPFileError(code: errno) }
      rest = rest.dropFirst(count)
    }
  }
}

extension UploadQueue {
  /// The queue of a body that is made while it is sent; `nil` for one in memory.
  static func make(_ body: HTTPRequestBody) throws(SQOAuthError) -> UploadQueue? {
    switch body {
    case .empty, .bytes: return nil
    case .stream(let length, let makeChunks):
      return UploadQueue(length: length, makeChunks: makeChunks)
    case .file(let url):
      do throws(HTTPFileError) {
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
  ) throws(HTTPFileError) -> @Sendable () async throws -> Data? {
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
