#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// The SHA-256 of a JSON text in the text itself, taken while zeros stand in its place.
///
/// It finds damage, such as a flipped bit in a refresh token, which a server would refuse for good.
/// A program that can write the text can write a digest that fits, so it protects from none.
package enum EmbeddedDigest {
  /// What stands in the digest's place when the text is encoded.
  static let placeholder = String(repeating: "0", count: 64)

  /// A text that has the placeholder, with its digest in the place of the last one.
  static func filled(_ text: Data) -> Data {
    guard let place = lastPlace(of: placeholder, in: text) else { return text }
    var filled = text
    filled.replaceSubrange(place, with: digest(of: text).utf8)
    return filled
  }

  /// A JSON object without white space, with its digest as a last member.
  package static func appended(to object: Data) -> Data {
    filled(object.dropLast() + Data((memberStart + placeholder + memberEnd).utf8))
  }

  /// Whether an object fits the digest that was appended to it, or has none.
  package static func isWhole(_ object: Data) -> Bool {
    let digits = object.dropLast(memberEnd.utf8.count).suffix(placeholder.utf8.count)
    let rest = object[..<digits.startIndex]
    guard rest.suffix(memberStart.utf8.count).elementsEqual(memberStart.utf8) else { return true }
    return fits(String(decoding: digits, as: UTF8.self), object)
  }

  private static let memberStart = ",\"sha256\":\""
  private static let memberEnd = "\"}"

  /// Whether a digest, which was read from the text, is the text's own.
  static func fits(_ digest: String, _ text: Data) -> Bool {
    guard digest.utf8.count == placeholder.utf8.count,
      let place = lastPlace(of: digest, in: text)
    else { return false }
    var blank = text
    blank.replaceSubrange(place, with: placeholder.utf8)
    // As bytes: a capital letter is damage too.
    return self.digest(of: blank).utf8.elementsEqual(digest.utf8)
  }

  /// Where a JSON string with this content comes last, without its quotation marks.
  ///
  /// Inside another string the marks would be escaped.
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
