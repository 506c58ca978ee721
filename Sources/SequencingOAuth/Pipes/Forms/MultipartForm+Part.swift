public import Basics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension MultipartForm {
  /// One part of a form.
  ///
  /// In names and file names `"`, CR and LF are percent-encoded, as HTML asks, and all else goes out
  /// as UTF-8; another control character is refused when the form is put into a request. A name that
  /// ends in a backslash is better avoided: some servers take it and the quote behind it for one.
  ///
  /// A file, data or a stream without a content type is sent as `application/octet-stream`. None is
  /// guessed from a name's extension: what an extension means differs from machine to machine, a
  /// server that cares looks at the content, and the caller knows it.
  ///
  /// - SeeAlso: RFC 7578, section 4.2; HTML, "Multipart form data"
  public struct Part: Sendable {
    /// The name of the form's field; several parts may have the same one.
    public let name: String
    /// The file name that the server is told.
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

    /// What a part has that says no more of itself (RFC 2046, section 4.5.1).
    public static let defaultContentType = "application/octet-stream"

    /// A text field; its text goes out as UTF-8 and as it is, line ends included.
    public static func field(_ name: String, _ text: String) -> Self {
      Self(name: name, filename: nil, contentType: nil, content: .data(Data(text.utf8)))
    }

    /// A file, read while it is sent; without a file name the server is told the last part of its
    /// path.
    ///
    /// Its length is taken when the form is put into a request. Of a file that grows meanwhile, so
    /// many bytes are sent; one that shrinks ends the request.
    public static func file(
      _ name: String, _ url: URL, filename: String? = nil,
      contentType: String = defaultContentType
    ) -> Self {
      Self(
        name: name, filename: filename ?? url.lastPathComponent, contentType: contentType,
        content: .file(url))
    }

    /// Bytes in memory.
    public static func data(
      _ name: String, _ data: Data, filename: String? = nil,
      contentType: String = defaultContentType
    ) -> Self {
      Self(name: name, filename: filename, contentType: contentType, content: .data(data))
    }

    /// Chunks that are asked for one at a time, when there is room for them; `nil` ends the part.
    ///
    /// The outer closure is called once for each time that the form is sent. `length` is in bytes,
    /// and the stream must keep to it; one part without it leaves the length of the whole form
    /// unknown.
    public static func stream(
      _ name: String, filename: String? = nil, contentType: String = defaultContentType,
      length: Int64? = nil, makeChunks: @escaping @Sendable () -> @Sendable () async throws -> Data?
    ) -> Self {
      Self(
        name: name, filename: filename, contentType: contentType,
        content: .stream(length: length, makeChunks))
    }

    /// Chunks that can be had once only, such as those of a pipe.
    ///
    /// The closure is asked for one chunk at a time, when there is room for it; `nil` ends the part.
    /// A request that would need them again, because its token was refused or a connection was
    /// lost, ends with ``SQOAuthError/Code/bodyNotReplayable``.
    public static func stream(
      _ name: String, filename: String? = nil, contentType: String = defaultContentType,
      length: Int64? = nil, once chunks: @escaping @Sendable () async throws -> Data?
    ) -> Self {
      Self(
        name: name, filename: filename, contentType: contentType,
        content: .oneTime(length: length, OneTimeStream(name, chunks)))
    }

    /// The chunks of a sequence, which is gone through once only.
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

  /// Touched by the one task that sends the one-time stream.
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
  /// The name, without the content.
  public var description: String { name }
}
