import SQBasics
import SQCrypto
package import SQFoundation

/// The SHA-256 digest of a JSON text, stored in the text and computed with zeros in its place.
///
/// The digest reveals damage, such as a flipped bit in a refresh token. It does not protect against
/// a program that can write the text, because that program can also write a matching digest.
package enum EmbeddedDigest {
  /// The zeros in place of the digest while the text is encoded.
  static let placeholder = String(repeating: "0", count: 64)

  /// Replaces the last placeholder in a text by the text's digest.
  static func filled(_ text: Data) -> Data {
    guard let place = lastPlace(of: placeholder, in: text) else { return text }
    var filled = text
    filled.replaceSubrange(place, with: digest(of: text).utf8)
    return filled
  }

  /// Appends the digest as the last member of a JSON object without white space.
  package static func appended(to object: Data) -> Data {
    filled(object.dropLast() + Data((memberStart + placeholder + memberEnd).utf8))
  }

  /// Returns a JSON object without the digest at its end, and whether it had one; `nil` if the
  /// object does not match its digest.
  package static func content(of object: Data) -> (json: Data, hadDigest: Bool)? {
    let digits = object.dropLast(memberEnd.utf8.count).suffix(placeholder.utf8.count)
    let rest = object[..<digits.startIndex]
    guard rest.suffix(memberStart.utf8.count).elementsEqual(memberStart.utf8) else {
      return (object, false)
    }
    guard fits(String(decoding: digits, as: UTF8.self), object) else { return nil }
    return (rest.dropLast(memberStart.utf8.count) + Data("}".utf8), true)
  }

  /// The name of the member with the digest.
  static let memberName = "sha256"
  private static let memberStart = ",\"\(memberName)\":\""
  private static let memberEnd = "\"}"

  /// Returns whether a digest from a text is the digest of that text.
  static func fits(_ digest: String, _ text: Data) -> Bool {
    guard digest.utf8.count == placeholder.utf8.count,
      let place = lastPlace(of: digest, in: text)
    else { return false }
    var blank = text
    blank.replaceSubrange(place, with: placeholder.utf8)
    // The digests must be equal byte for byte, because a capital letter is damage too.
    return self.digest(of: blank) == digest
  }

  /// Returns the position of the last JSON string with this content, without its quotation marks.
  ///
  /// A match inside another string is impossible, because the quotation marks would be escaped
  /// there.
  private static func lastPlace(of digits: String, in text: Data) -> Range<Int>? {
    let pattern = Array("\"\(digits)\"".utf8)
    guard text.count >= pattern.count else { return nil }
    return text.withUnsafeBytes { bytes in
      for start in stride(from: bytes.count - pattern.count, through: 0, by: -1)
      where bytes[start] == pattern[0] && bytes[start...].starts(with: pattern) {
        let first = text.startIndex + start + 1
        return first..<first + digits.utf8.count
      }
      return nil
    }
  }

  private static func digest(of text: Data) -> String {
    Hexadecimal.encode(Digest.quickSHA256(text))
  }
}
