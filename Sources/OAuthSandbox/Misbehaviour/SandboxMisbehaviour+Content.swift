// MARK: Where contents come and go, such as the drive

extension SandboxMisbehaviour {
  /// The right answer with a field set, or taken out of it; `nil` takes it out.
  ///
  /// A `Content-Range` that does not fit, an `ETag` that changes between two parts, and a `Link` to
  /// another site are made with it.
  public static func field(_ name: String, _ value: String?) -> Self {
    Self(kind: .field(name, value))
  }

  /// The right answer to a request without these fields.
  ///
  /// With `If-Range` a part of a file is sent although the file has changed.
  public static func ignoring(_ fields: String...) -> Self {
    Self(kind: .ignoring(Set(fields.map { $0.lowercased() })))
  }

  /// The whole file with status 200, although a part of it was asked for.
  public static let ignoringRange = ignoring("Range", "If-Range")

  /// The head of the right answer, so many bytes of its body, and then the end of the connection.
  public static func cut(afterBodyBytes count: Int, reset: Bool = false) -> Self {
    Self(kind: .part(max(0, count), reset ? .reset : .close))
  }

  /// The head of the right answer, so many bytes of its body, and then nothing, until the client
  /// leaves.
  public static func stall(afterBodyBytes count: Int) -> Self {
    Self(kind: .part(max(0, count), .silence))
  }

  /// Another misbehaviour as soon as the head of a request has come; its body is not read.
  ///
  /// With `.cut(.beforeProcessing, reset: true)` an upload breaks off under way, with
  /// `.delay(.seconds(3600))` it comes to a halt, with `.bearerError("invalid_token")` it is refused
  /// before it is sent. It works where it is the next misbehaviour of its endpoint.
  public static func unread(_ other: SandboxMisbehaviour) -> Self {
    Self(kind: .unread(then: other.kind))
  }
}
