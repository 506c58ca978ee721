/// The percent encoding of `grpc-message`.
///
/// - SeeAlso: gRPC's `doc/PROTOCOL-HTTP2.md`, "Responses"
enum PercentCoding {
  /// Decodes a text; a `%` that two hexadecimal digits do not follow stays as it is, and what is no
  /// UTF-8 becomes U+FFFD.
  static func decode(_ text: String) -> String {
    var rest = Array(text.utf8)[...]
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let high = rest.first.flatMap(digit),
        let low = rest.dropFirst().first.flatMap(digit)
      {
        bytes.append(high << 4 | low)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
  }
}
