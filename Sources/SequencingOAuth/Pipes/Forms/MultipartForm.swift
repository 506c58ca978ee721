public import Basics

/// A form with files, as a browser sends it: `multipart/form-data`.
///
/// ```swift
/// let form: MultipartForm = [
///   .field("title", "Holiday"),
///   .file("photo", URL(filePath: "/home/me/photo.jpg"), contentType: "image/jpeg"),
/// ]
/// var request = HTTPRequest(method: "POST", url: url)
/// try request.setForm(form)
/// ```
///
/// Files and streams are read while they are sent, a piece at a time, and every sending of the
/// request reads them anew.
///
/// - SeeAlso: RFC 7578
public struct MultipartForm: Sendable, ExpressibleByArrayLiteral {
  /// The parts, in the order in which they are sent.
  public var parts: [Part]

  /// Makes a form.
  public init(_ parts: [Part] = []) {
    self.parts = parts
  }

  /// Makes a form from a literal.
  public init(arrayLiteral elements: Part...) {
    parts = elements
  }

  /// Adds a part behind those that are there.
  public mutating func append(_ part: Part) {
    parts.append(part)
  }
}

extension MultipartForm: Redacted {
  /// The number of parts, without their contents.
  public var description: String { "\(parts.count) parts" }
}
