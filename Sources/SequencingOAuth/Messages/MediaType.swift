import SQBasics

/// A reader of `Content-Type` fields.
package enum MediaType {
  /// Returns the type in lower case, without its parameters; `nil` if there is no field.
  ///
  /// - SeeAlso: RFC 9110, section 8.3.1
  package static func essence(of field: String?) -> String? {
    guard let field else { return nil }
    return String(
      decoding: field.utf8.prefix { $0 != UInt8(ascii: ";") }.filter { $0 != 0x20 && $0 != 0x09 },
      as: UTF8.self
    ).asciiLowercased()
  }

  /// Describes the content type of a response, for a message.
  package static func description(of response: WebResponse) -> String {
    essence(of: response.headers["Content-Type"]).map {
      "the content type \"\($0.printable(atMost: 100))\""
    } ?? "no content type"
  }
}
