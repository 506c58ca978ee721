import SQBasics
import SQLoopbackPages

/// An sRGB color without transparency.
///
/// It is a type of its own, because a text could insert more than a color into a page's style.
public struct PageColor: Sendable, Hashable {
  /// The red component, from 0 to 255.
  public let red: UInt8
  /// The green component, from 0 to 255.
  public let green: UInt8
  /// The blue component, from 0 to 255.
  public let blue: UInt8

  /// Creates a color from its red, green and blue components.
  public init(red: UInt8, green: UInt8, blue: UInt8) {
    self.red = red
    self.green = green
    self.blue = blue
  }

  /// Creates a color from `#` and six hexadecimal digits, in upper or lower case.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` for any other text, such as a name, three
  ///   digits, or a color with transparency.
  public init(_ text: String) throws(SQOAuthError) {
    // The initializer of `UInt32` would also accept a sign.
    guard text.utf8.count == 7, text.hasPrefix("#"), text.utf8.dropFirst().allSatisfy(Self.isDigit),
      let number = UInt32(text.dropFirst(), radix: 16)
    else {
      throw SQOAuthError(
        .invalidConfiguration,
        "\"\(String(text.prefix(20)).printable)\" is not a color that the SDK can read; write # and "
          + "six hexadecimal digits, such as #0f6b5c")
    }
    self.init(
      red: UInt8(truncatingIfNeeded: number >> 16), green: UInt8(truncatingIfNeeded: number >> 8),
      blue: UInt8(truncatingIfNeeded: number))
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
      UInt8(ascii: "A")...UInt8(ascii: "F"):
      true
    default: false
    }
  }

  var tint: PageTint { PageTint(red, green, blue) }
}

extension PageColor: CustomStringConvertible {
  /// The color as `#` and six hexadecimal digits, such as `#0f6b5c`.
  public var description: String { "#" + tint.digits }
}
