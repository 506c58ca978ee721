package import SQFoundation

/// The Base64url encoding without padding.
///
/// - SeeAlso: RFC 4648, section 5; RFC 7515, section 2
package enum Base64URL {
  private static let characters = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// The value of each Base64url character, and `invalid` for all other bytes.
  private static let values = {
    var values = [UInt8](repeating: invalid, count: 256)
    for (value, character) in characters.enumerated() { values[Int(character)] = UInt8(value) }
    return values
  }()
  private static let invalid: UInt8 = 0xFF

  /// Encodes bytes without padding.
  ///
  /// - SeeAlso: RFC 7636, appendix A
  package static func encode(_ bytes: Data) -> String {
    bytes.withUnsafeBytes { encode($0) }
  }

  /// Encodes a text's UTF-8 bytes without padding.
  package static func encode(_ text: String) -> String {
    var text = text
    return text.withUTF8 { encode(UnsafeRawBufferPointer($0)) }
  }

  private static func encode(_ bytes: UnsafeRawBufferPointer) -> String {
    let size = (bytes.count * 4 + 2) / 3
    return characters.withUnsafeBufferPointer { characters in
      String(unsafeUninitializedCapacity: size) { text in
        var bits: UInt32 = 0
        var count = 0
        var end = 0
        for byte in bytes {
          bits = bits << 8 | UInt32(byte)
          count += 8
          while count >= 6 {
            count -= 6
            text[end] = characters[Int(bits >> count & 63)]
            end += 1
          }
        }
        if count > 0 {
          text[end] = characters[Int(bits << (6 - count) & 63)]
          end += 1
        }
        return end
      }
    }
  }

  /// Decodes UTF-8 text; returns `nil` if it is not exactly the output of ``encode(_:)`` for some
  /// bytes.
  ///
  /// Padding, line breaks and unused bits that are not zero are rejected, so no two texts decode to
  /// the same bytes.
  ///
  /// - SeeAlso: RFC 4648, section 3.5
  package static func decode(_ text: some Collection<UInt8>) -> Data? {
    // The work is done on a buffer, because the compiler cannot specialize this function for the
    // types that other modules pass.
    text.withContiguousStorageIfAvailable { decode($0) }
      ?? Array(text).withUnsafeBufferPointer { decode($0) }
  }

  private static func decode(_ text: UnsafeBufferPointer<UInt8>) -> Data? {
    let size = text.count
    guard size % 4 != 1 else { return nil }
    var bytes = Data(count: size * 3 / 4)
    let isWhole = bytes.withUnsafeMutableBytes { (bytes: UnsafeMutableRawBufferPointer) -> Bool in
      values.withUnsafeBufferPointer { values in
        var bits: UInt32 = 0
        var count = 0
        var end = 0
        for character in text {
          let value = values[Int(character)]
          guard value != invalid else { return false }
          bits = bits << 6 | UInt32(value)
          count += 6
          guard count >= 8 else { continue }
          count -= 8
          bytes[end] = UInt8(truncatingIfNeeded: bits >> count)
          end += 1
        }
        return bits & (1 << count - 1) == 0
      }
    }
    return isWhole ? bytes : nil
  }

  /// Decodes a text; returns `nil` if it is not exactly the output of ``encode(_:)`` for some
  /// bytes.
  package static func decode(_ text: String) -> Data? { decode(text.utf8) }
}
