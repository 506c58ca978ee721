import SQFiles
import SQFoundation
import SequencingOAuth

/// A reader of a form's body for one attempt to send the form; only the sending task uses it.
final class MultipartReader: @unchecked Sendable {
  /// The file or the stream that is being read.
  private enum Source {
    case file(OpenFile, path: String)
    case stream(MultipartBody.Piece.Next, part: String)
  }

  private var pieces: ArraySlice<MultipartBody.Piece>
  private var source: Source?
  /// The number of bytes left in the source; `nil` if its length was not announced.
  private var rest: Int64?

  init(_ pieces: [MultipartBody.Piece]) {
    self.pieces = pieces[...]
  }

  /// Reads the next chunk; returns `nil` at the end.
  func next() async throws -> Data? {
    while true {
      if let chunk = try await nextOfSource() { return chunk }
      guard let piece = pieces.popFirst() else { return nil }
      if case .bytes(let data) = piece { return data }
      try await open(piece)
    }
  }

  private func open(_ piece: MultipartBody.Piece) async throws(SQOAuthError) {
    rest = piece.length
    switch piece {
    case .bytes: break
    case .file(let url, _):
      let path = url.path(percentEncoded: false)
      do throws(FileFailure) {
        source = .file(try await OpenFile.reading(url), path: path)
      } catch {
        throw Self.unreadable(path, error)
      }
    case .stream(let part, _, let begin):
      source = .stream(try begin(), part: part)
    }
  }

  private func nextOfSource() async throws -> Data? {
    let chunk: Data?
    switch source {
    case nil: return nil
    case .file(let file, let path): chunk = try await nextPiece(of: file, path)
    case .stream(let next, let part):
      chunk = try await next()
      // With too many or too few bytes, the server would misread everything after this part.
      let isLong = Int64(chunk?.count ?? 0) > rest ?? .max
      let isShort = chunk == nil && rest ?? 0 > 0
      if isLong || isShort { throw Self.mismatch("the stream of the part \(part)") }
    }
    if let count = rest { rest = count - Int64(chunk?.count ?? 0) }
    if chunk == nil { source = nil }
    return chunk
  }

  private func nextPiece(
    of file: OpenFile, _ path: String
  ) async throws(SQOAuthError) -> Data? {
    guard let rest, rest > 0 else { return nil }
    let piece: Data
    do throws(FileFailure) {
      piece = try await file.piece(rest)
    } catch {
      throw Self.unreadable(path, error)
    }
    guard !piece.isEmpty else { throw Self.mismatch(path) }
    return piece
  }

  private static func mismatch(_ what: String) -> SQOAuthError {
    SQOAuthError(
      .malformedRequest, "\(what) has more or fewer bytes than its part of the form declares")
  }

  private static func unreadable(_ path: String, _ error: FileFailure) -> SQOAuthError {
    SQOAuthError(
      .malformedRequest, "\(path) can no longer be read: \(error)", cause: FileError(error))
  }
}
