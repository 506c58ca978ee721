// MARK: For contents, such as those of the drive

extension SandboxMisbehaviour {
  /// The right answer with one header field set or, if `value` is `nil`, removed.
  ///
  /// Use it for a `Content-Range` that does not fit, an `ETag` that changes between two parts, or a
  /// `Link` to another site.
  public static func field(_ name: String, _ value: String?) -> Self {
    Self(kind: .field(name, value))
  }

  /// The right answer to the request as if these fields were missing.
  ///
  /// Ignoring `If-Range`, for example, sends a part of a file although the file has changed.
  public static func ignoring(_ fields: String...) -> Self {
    Self(kind: .ignoring(Set(fields.map { $0.lowercased() })))
  }

  /// The whole file with status 200, even if the request asks for a part of it.
  public static let ignoringRange = ignoring("Range", "If-Range")

  /// The head of the right answer and some bytes of its body; then the connection ends.
  public static func cut(afterBodyBytes count: Int, reset: Bool = false) -> Self {
    Self(kind: .part(max(0, count), reset ? .reset : .close))
  }

  /// The head of the right answer and some bytes of its body; then nothing until the client leaves.
  public static func stall(afterBodyBytes count: Int) -> Self {
    Self(kind: .part(max(0, count), .silence))
  }

  /// Another misbehaviour as soon as a request's head has arrived, without reading the body.
  ///
  /// With `.cut(.beforeProcessing, reset: true)` an upload breaks off while it is sent, with
  /// `.delay(.seconds(3600))` it stops, and with `.bearerError("invalid_token")` it is refused
  /// before it is sent. It works only if it is the next misbehaviour that its endpoint has.
  public static func unread(_ other: SandboxMisbehaviour) -> Self {
    Self(kind: .unread(then: other.kind))
  }
}
