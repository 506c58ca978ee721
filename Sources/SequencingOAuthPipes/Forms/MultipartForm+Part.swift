public import SQBasics
public import SQFoundation
import SequencingOAuth

extension MultipartForm {
  /// A part of a form: a text field, a file, bytes in memory or a stream.
  ///
  /// In names and file names, `"`, CR and LF are percent-encoded, as HTML requires; all other
  /// characters are sent as UTF-8. ``SequencingOAuth/WebRequest/setForm(_:)`` rejects other
  /// control characters. Avoid names that end with a backslash: some servers read the backslash and
  /// the following quote as an escaped quote.
  ///
  /// Without a content type, a file, data or a stream is sent as `application/octet-stream`. The
  /// SDK does not guess the type from the file name's extension, because the meaning of an
  /// extension differs between machines. Set the type if the server needs it.
  ///
  /// - SeeAlso: RFC 7578, section 4.2; HTML, "Multipart form data"
  public struct Part: Sendable {
    /// The name of the form's field; several parts may have the same name.
    public let name: String
    /// The file name for the server; `nil` for none.
    public let filename: String?
    /// The media type of the content; `nil` for a text field.
    public let contentType: String?
    let content: Content

    enum Content: Sendable {
      case data(Data)
      case file(URL)
      case stream(length: Int64?, @Sendable () -> @Sendable () async throws -> Data?)
      case oneTime(length: Int64?, OneTimeStream)
    }

    /// The content type for unknown content (RFC 2046, section 4.5.1).
    public static let defaultContentType = "application/octet-stream"

    /// Creates a text field; its text is sent as UTF-8, with line ends unchanged.
    public static func field(_ name: String, _ text: String) -> Self {
      Self(name: name, filename: nil, contentType: nil, content: .data(Data(text.utf8)))
    }

    /// Creates a part from a file; the file is read while the form is sent.
    ///
    /// Without a `filename`, the server gets the last component of the file's path.
    /// ``SequencingOAuth/WebRequest/setForm(_:)`` determines the file's length. If the file grows
    /// after that, its first bytes up to that length are sent; if it shrinks, the request fails.
    public static func file(
      _ name: String, _ url: URL, filename: String? = nil,
      contentType: String = defaultContentType
    ) -> Self {
      Self(
        name: name, filename: filename ?? url.lastPathComponent, contentType: contentType,
        content: .file(url))
    }

    /// Creates a part from bytes in memory.
    public static func data(
      _ name: String, _ data: Data, filename: String? = nil,
      contentType: String = defaultContentType
    ) -> Self {
      Self(name: name, filename: filename, contentType: contentType, content: .data(data))
    }

    /// Creates a part from a stream of chunks that can be read again for another attempt.
    ///
    /// The SDK calls the outer closure each time it sends the form. The inner closure returns one
    /// chunk at a time, as soon as the chunk can be sent; `nil` ends the part. `length` is in
    /// bytes, and the stream must have exactly that length. If a part has no length, the length of
    /// the whole form is unknown.
    public static func stream(
      _ name: String, filename: String? = nil, contentType: String = defaultContentType,
      length: Int64? = nil, makeChunks: @escaping @Sendable () -> @Sendable () async throws -> Data?
    ) -> Self {
      Self(
        name: name, filename: filename, contentType: contentType,
        content: .stream(length: length, makeChunks))
    }

    /// Creates a part from chunks that can be read only once, such as another program's output.
    ///
    /// The closure returns one chunk at a time, as soon as the chunk can be sent; `nil` ends the
    /// part. If the request needs the chunks a second time, because the server refused its token or
    /// a connection was lost, it fails with `SQOAuthError.Code.bodyNotReplayable`.
    public static func stream(
      _ name: String, filename: String? = nil, contentType: String = defaultContentType,
      length: Int64? = nil, once chunks: @escaping @Sendable () async throws -> Data?
    ) -> Self {
      Self(
        name: name, filename: filename, contentType: contentType,
        content: .oneTime(length: length, OneTimeStream(name, chunks)))
    }

    /// Creates a part from the chunks of a sequence that can be read only once.
    ///
    /// If the request needs the chunks a second time, because the server refused its token or a
    /// connection was lost, it fails with `SQOAuthError.Code.bodyNotReplayable`.
    public static func stream<Chunks: AsyncSequence & Sendable>(
      _ name: String, filename: String? = nil, contentType: String = defaultContentType,
      length: Int64? = nil, once chunks: Chunks
    ) -> Self where Chunks.Element == Data {
      let iteration = Iteration(chunks)
      return stream(name, filename: filename, contentType: contentType, length: length) {
        try await iteration.next()
      }
    }
  }

  /// The iterator of a sequence; only the task that sends the part uses it.
  private final class Iteration<Chunks: AsyncSequence>: @unchecked Sendable
  where Chunks.Element == Data {
    private var iterator: Chunks.AsyncIterator

    init(_ chunks: Chunks) {
      iterator = chunks.makeAsyncIterator()
    }

    func next() async throws -> Data? {
      try await iterator.next()
    }
  }
}

extension MultipartForm.Part: Redacted {
  /// The name of the part, without its content.
  public var description: String { name }
}
