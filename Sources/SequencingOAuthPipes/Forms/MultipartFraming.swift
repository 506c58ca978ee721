import SQCrypto
import SQFoundation
import SequencingOAuth

/// The boundaries and part heads that separate the contents of a form's parts.
///
/// - SeeAlso: RFC 2046, section 5.1.1; RFC 7578, section 4
struct MultipartFraming: Sendable {
  let boundary: String

  /// Creates a random boundary of 132 bits, so that no content contains it by chance.
  static func random() -> Self {
    Self(boundary: String(RandomString.make().prefix(22)))
  }

  /// The value of the request's `Content-Type`; the boundary's characters need no quotes.
  var contentType: String { "multipart/form-data; boundary=\(boundary)" }

  /// Returns the boundary and the fields before a part's content.
  func head(of part: MultipartForm.Part) throws(SQOAuthError) -> Data {
    var head = "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(try escape(part.name))\""
    if let filename = part.filename { head += "; filename=\"\(try escape(filename))\"" }
    head += "\r\n"
    if let type = part.contentType {
      guard !type.isEmpty, type.isPrintableASCII else {
        throw Self.malformed("the content type of a part is empty or not printable ASCII")
      }
      head += "Content-Type: \(type)\r\n"
    }
    return Data("\(head)\r\n".utf8)
  }

  /// The line end after a part's content.
  static let tail = Data("\r\n".utf8)

  /// The boundary at the end of the form.
  var end: Data { Data("--\(boundary)--\r\n".utf8) }

  static func malformed(_ what: String, cause: (any Error)? = nil) -> SQOAuthError {
    SQOAuthError(.malformedRequest, "\(what); nothing was sent", cause: cause)
  }

  /// Percent-encodes `"`, CR and LF, as HTML requires and browsers do.
  ///
  /// Servers expect the escapes of browsers, so the backslash of RFC 2616 is not used.
  private func escape(_ name: String) throws(SQOAuthError) -> String {
    var escaped: [UInt8] = []
    escaped.reserveCapacity(name.utf8.count)
    // The loop is over bytes, because Swift treats CR LF as one character.
    for byte in name.utf8 {
      switch byte {
      case 0x0A: escaped += Array("%0A".utf8)
      case 0x0D: escaped += Array("%0D".utf8)
      case 0x22: escaped += Array("%22".utf8)
      case 0x00..<0x20, 0x7F:
        throw Self.malformed("the name or the file name of a part has a control character")
      default: escaped.append(byte)
      }
    }
    return String(decoding: escaped, as: UTF8.self)
  }
}
