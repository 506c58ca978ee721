// MARK: For contents, such as those of the drive

extension SandboxMisbehaviour {
  /// The right answer with one header field set or, if `value` is `nil`, removed.
  ///
  /// Use it for a wrong `Content-Range`, an `ETag` that changes between two parts of a file, or a
  /// `Link` to another site. It has no effect on `Content-Length`, `Transfer-Encoding` and
  /// `Connection`.
  public static func field(_ name: String, _ value: String?) -> Self {
    Self(kind: .field(name, value))
  }

  /// The answer that would be right if the request did not have these header fields.
  ///
  /// For example, without `If-Range` the sandbox sends a part of a file although the file has
  /// changed.
  public static func ignoring(_ fields: String...) -> Self {
    Self(kind: .ignoring(Set(fields.map { $0.lowercased() })))
  }

  /// The whole file with status 200, even if the request asks for a part of it.
  public static let ignoringRange = ignoring("Range", "If-Range")

  /// The right answer's head and the first `count` bytes of its body, then the end of the
  /// connection.
  public static func cut(afterBodyBytes count: Int, reset: Bool = false) -> Self {
    Self(kind: .part(max(0, count), reset ? .reset : .close))
  }

  /// The right answer's head and the first `count` bytes of its body, then nothing until the client
  /// disconnects.
  public static func stall(afterBodyBytes count: Int) -> Self {
    Self(kind: .part(max(0, count), .silence))
  }

  /// Another misbehaviour, applied when a request's head has arrived, without reading the body.
  ///
  /// For example, `.cut(.beforeProcessing, reset: true)` breaks an upload off while it is sent,
  /// `.delay(.seconds(3600))` makes the upload wait, and `.bearerError("invalid_token")` rejects it
  /// before it is sent. `unread` works only while it is the first misbehaviour in the queue of its
  /// endpoint.
  public static func unread(_ other: SandboxMisbehaviour) -> Self {
    Self(kind: .unread(then: other.kind))
  }
}
