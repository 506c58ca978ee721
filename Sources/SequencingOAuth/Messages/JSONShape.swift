#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Limits the depth and the number of values of a JSON text before it is decoded.
///
/// The decoder's work grows with the number of values times their depth, so a text of one megabyte
/// could keep it busy for minutes. No message of the protocol comes near these limits.
enum JSONShape {
  static let maximumDepth = 32
  static let maximumValues = 10_000

  /// Whether a text stays within the limits; a text that is not JSON may pass.
  static func isBounded(_ text: Data, maximumValues: Int = maximumValues) -> Bool {
    text.withUnsafeBytes { isBounded($0, maximumValues) }
  }

  private static func isBounded(_ text: UnsafeRawBufferPointer, _ maximumValues: Int) -> Bool {
    var depth = 0
    var values = 1
    var isInString = false
    var isEscaped = false
    for byte in text {
      if isInString {
        switch byte {
        case _ where isEscaped: isEscaped = false
        case UInt8(ascii: "\\"): isEscaped = true
        case UInt8(ascii: "\""): isInString = false
        default: break
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isInString = true
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      case UInt8(ascii: ","): values += 1
      default: break
      }
      if depth > maximumDepth || values > maximumValues { return false }
    }
    return true
  }
}
