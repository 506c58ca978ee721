import SQFiles
import SQFoundation
import SequencingOAuth

/// A form as a list of pieces: bytes in memory, and files and streams that are read when sent.
struct MultipartBody: Sendable {
  enum Piece: Sendable {
    case bytes(Data)
    case file(URL, length: Int64)
    case stream(part: String, length: Int64?, @Sendable () throws(SQOAuthError) -> Next)

    typealias Next = @Sendable () async throws -> Data?

    var length: Int64? {
      switch self {
      case .bytes(let data): Int64(data.count)
      case .file(_, let length): length
      case .stream(_, let length, _): length
      }
    }
  }

  /// The maximum number of bytes to append to the previous piece; more bytes become a new piece.
  private static let smallSize = 64 * 1024

  let contentType: String
  private(set) var pieces: [Piece] = []
  private(set) var oneTimeStreams: [OneTimeStream] = []
  /// The length of the whole body, including the framing; `nil` if a part's length is unknown.
  private(set) var length: Int64? = 0

  /// Creates the pieces of a form; throws if a part is malformed or a file cannot be read.
  init(
    _ form: MultipartForm, framing: MultipartFraming = .random()
  ) throws(SQOAuthError) {
    contentType = framing.contentType
    for part in form.parts {
      append(try framing.head(of: part))
      try append(part)
      append(MultipartFraming.tail)
    }
    append(framing.end)
    for piece in pieces { try count(piece) }
  }

  var httpBody: WebRequestBody {
    if pieces.count == 1, case .bytes(let data) = pieces[0] { return .bytes(data) }
    return .stream(length: length) { [pieces] in
      let reader = MultipartReader(pieces)
      return { try await reader.next() }
    }
  }

  private mutating func append(_ part: MultipartForm.Part) throws(SQOAuthError) {
    switch part.content {
    case .data(let data):
      append(data)
    case .file(let url):
      pieces.append(.file(url, length: try Self.length(of: url)))
    case .stream(let length, let makeChunks):
      pieces.append(.stream(part: part.name, length: length) { makeChunks() })
    case .oneTime(let length, let stream):
      oneTimeStreams.append(stream)
      pieces.append(
        .stream(part: part.name, length: length) { () throws(SQOAuthError) in try stream.begin() })
    }
  }

  private mutating func append(_ data: Data) {
    if data.count <= Self.smallSize, case .bytes(let last)? = pieces.last {
      pieces[pieces.count - 1] = .bytes(last + data)
    } else {
      pieces.append(.bytes(data))
    }
  }

  private mutating func count(_ piece: Piece) throws(SQOAuthError) {
    guard let more = piece.length else {
      length = nil
      return
    }
    guard more >= 0 else { throw MultipartFraming.malformed("the length of a part is negative") }
    guard let before = length else { return }
    let (sum, isTooLarge) = before.addingReportingOverflow(more)
    guard !isTooLarge else { throw MultipartFraming.malformed("the form is too long") }
    length = sum
  }

  private static func length(of url: URL) throws(SQOAuthError) -> Int64 {
    do throws(FileFailure) {
      return try OpenFile.length(of: url)
    } catch {
      throw MultipartFraming.malformed(
        "\(url.path(percentEncoded: false)) cannot be sent: \(error)", cause: FileError(error))
    }
  }
}
