package import SQFoundation

/// The encoding of bytes as lower-case hexadecimal digits, two for each byte.
///
/// Upper-case digits are rejected, so each sequence of bytes has only one text.
package enum Hexadecimal {
  private static let digits = Array("0123456789abcdef".utf8)

  /// Returns bytes as lower-case hexadecimal digits.
  package static func encode(_ bytes: some Collection<UInt8>) -> String {
    bytes.withContiguousStorageIfAvailable(encode) ?? Array(bytes).withUnsafeBufferPointer(encode)
  }

  private static func encode(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
    String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
      for (index, byte) in bytes.enumerated() {
        text[2 * index] = digits[Int(byte >> 4)]
        text[2 * index + 1] = digits[Int(byte & 15)]
      }
      return 2 * bytes.count
    }
  }

  /// Returns the bytes of a text of lower-case hexadecimal digits; `nil` for any other text.
  package static func decode(_ text: String) -> Data? {
    let values = text.utf8.map { digits.firstIndex(of: $0) }
    guard values.count.isMultiple(of: 2) else { return nil }
    var bytes = Data(capacity: values.count / 2)
    for index in stride(from: 0, to: values.count, by: 2) {
      guard let high = values[index], let low = values[index + 1] else { return nil }
      bytes.append(UInt8(high << 4 | low))
    }
    return bytes
  }
}
