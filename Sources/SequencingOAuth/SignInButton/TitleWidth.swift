/// An estimate of a title's width in a semibold sans-serif font, in the drawing's units.
struct TitleWidth: Sendable, Hashable {
  static let fontSize = 17

  let units: Int
  /// Whether the estimate is so close, in any common font, that the title can be stretched to it.
  ///
  /// This is true for Latin, Greek and Cyrillic letters; the widths of other letters vary too much.
  let isClose: Bool

  init(_ title: String) {
    let thousandths = title.unicodeScalars.reduce(0) { $0 + Self.thousandthsOfAnEm($1) }
    units = (thousandths * Self.fontSize + 999) / 1000
    isClose = title.unicodeScalars.allSatisfy { $0 < "\u{530}" }
  }

  private static func thousandthsOfAnEm(_ scalar: Unicode.Scalar) -> Int {
    switch scalar {
    case "i", "j", "l", "I", " ", "'", ",", ".", ":", ";", "|", "!": 280
    case "f", "r", "t", "(", ")", "[", "]", "/", "\\", "-", "\"", "`", "*": 370
    case "m", "w", "M", "W", "@", "%", "&": 850
    case "A"..."Z": 680
    case "\0"..."~": 570
    case _ where scalar.properties.generalCategory == .nonspacingMark: 0
    // East Asian scripts and emoji begin approximately here.
    case ..."\u{2E7F}": 650
    default: 1050
    }
  }
}
