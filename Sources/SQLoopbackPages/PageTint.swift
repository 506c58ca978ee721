import SQBasics

/// A colour in sRGB that can compute its contrast to other colours.
///
/// - SeeAlso: WCAG 2.2, "relative luminance" and success criterion 1.4.3
package struct PageTint: Sendable, Hashable {
  /// The lowest contrast of readable text.
  package static let readable = 4.5
  static let white = PageTint(0xFF, 0xFF, 0xFF)
  static let black = PageTint(0, 0, 0)

  package let red: UInt8
  package let green: UInt8
  package let blue: UInt8

  package init(_ red: UInt8, _ green: UInt8, _ blue: UInt8) {
    (self.red, self.green, self.blue) = (red, green, blue)
  }

  /// The colour as six hexadecimal digits in lower case.
  package var digits: String {
    [red, green, blue].map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }

  /// The relative luminance, from 0 for black to 1 for white.
  private var luminance: Double {
    func linear(_ byte: UInt8) -> Double {
      let part = Double(byte) / 255
      return part <= 0.04045 ? part / 12.92 : CLibrary.power((part + 0.055) / 1.055, 2.4)
    }
    return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
  }

  /// Returns the contrast to another colour, from 1 to 21.
  package func contrast(to other: PageTint) -> Double {
    let (first, second) = (luminance, other.luminance)
    return (max(first, second) + 0.05) / (min(first, second) + 0.05)
  }

  /// Black or white, whichever has the higher contrast to this colour (at least 4.58).
  var ink: PageTint {
    contrast(to: .white) >= contrast(to: .black) ? .white : .black
  }

  /// Returns this colour mixed with a share, from 0 to 1, of another colour.
  func mixed(with other: PageTint, _ share: Double) -> PageTint {
    func mix(_ mine: UInt8, _ its: UInt8) -> UInt8 {
      UInt8((Double(mine) * (1 - share) + Double(its) * share).rounded())
    }
    return PageTint(mix(red, other.red), mix(green, other.green), mix(blue, other.blue))
  }

  /// Returns the nearest shade of this colour that is readable as text on all `grounds`, the
  /// colours behind the text.
  ///
  /// The shades go from this colour to `end`, black or white, which must itself be readable on all
  /// `grounds`.
  func readable(on grounds: [PageTint], towards end: PageTint) -> PageTint {
    let shades = stride(from: 0, through: 1, by: 1.0 / 32).lazy.map { self.mixed(with: end, $0) }
    return shades.first { shade in
      grounds.allSatisfy { shade.contrast(to: $0) >= Self.readable }
    } ?? end
  }
}
