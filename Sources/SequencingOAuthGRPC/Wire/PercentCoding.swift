import SQBasics

/// The percent encoding of `grpc-message`.
///
/// - SeeAlso: gRPC's `doc/PROTOCOL-HTTP2.md`, "Responses"
enum PercentCoding {
  /// Decodes a text.
  ///
  /// A `%` that is not followed by two hexadecimal digits stays unchanged. Bytes that are not UTF-8
  /// become U+FFFD, and the text is made stream-safe.
  static func decode(_ text: String) -> String {
    var rest = Array(text.utf8)[...]
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let high = rest.first?.hexadecimalValue,
        let low = rest.dropFirst().first?.hexadecimalValue
      {
        bytes.append(high << 4 | low)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(streamSafe: bytes)
  }
}
