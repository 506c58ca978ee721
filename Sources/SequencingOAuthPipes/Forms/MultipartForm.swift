public import SQBasics

/// A form with fields and files, for a `multipart/form-data` request as sent by browsers.
///
/// ```swift
/// let form: MultipartForm = [
///   .field("title", "Holiday"),
///   .file("photo", URL(filePath: "/home/me/photo.jpg"), contentType: "image/jpeg"),
/// ]
/// var request = WebRequest(method: "POST", url: url)
/// try request.setForm(form)
/// ```
///
/// Files and streams are read piece by piece while they are sent. If the request is sent again,
/// they are read again.
///
/// - SeeAlso: RFC 7578
public struct MultipartForm: Sendable, ExpressibleByArrayLiteral {
  /// The parts, in the order they are sent.
  public var parts: [Part]

  /// Creates a form from its parts.
  public init(_ parts: [Part] = []) {
    self.parts = parts
  }

  /// Creates a form from an array literal of its parts.
  public init(arrayLiteral elements: Part...) {
    parts = elements
  }

  /// Appends a part to the form.
  public mutating func append(_ part: Part) {
    parts.append(part)
  }
}

extension MultipartForm: Redacted {
  /// The number of parts, without their contents.
  public var description: String { "\(parts.count) parts" }
}
