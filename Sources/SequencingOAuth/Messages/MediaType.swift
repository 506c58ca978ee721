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

  /// Describes the content type of a response, for a message, without the request's secrets.
  package static func description(
    of response: WebResponse, removing secrets: SentSecrets
  ) -> String {
    guard let field = response.headers["Content-Type"] else { return "no content type" }
    // Remove the secrets before the field is cut, because a part of a secret would not be found.
    let type = Substring(secrets.removed(from: field).utf8.prefix { $0 != UInt8(ascii: ";") })
    return "the content type \"\(String(type.trimmed).printable(atMost: 100))\""
  }
}
