extension String {
  /// The text in a form that is safe to show: without control characters, at most 500 characters
  /// long; a longer text ends with "…".
  ///
  /// A blank takes the place of line ends and tabs, so that words stay apart. Use it for texts from
  /// servers, file names and the environment, which may contain anything.
  package var printable: String {
    let shown = printable(atMost: 501)
    guard shown.unicodeScalars.count > 500 else { return shown }
    return String(String.UnicodeScalarView(shown.unicodeScalars.prefix(499))) + "…"
  }

  /// The text without control characters, and with at most `count` of the other characters.
  package func printable(atMost count: Int) -> String {
    var shown = UnicodeScalarView()
    var length = 0
    var isAfterBreak = false
    for scalar in unicodeScalars {
      guard length < count else { break }
      guard scalar.isPrintable else {
        isAfterBreak = isAfterBreak || scalar.separatesWords
        continue
      }
      let isSeparate = !isAfterBreak || scalar == " " || shown.last ?? " " == " "
      if !isSeparate {
        shown.append(" ")
        length += 1
      }
      isAfterBreak = false
      guard length < count else { break }
      shown.append(scalar)
      length += 1
    }
    return String(shown)
  }

  /// The text of the printable characters alone, without anything in the place of the others.
  package var withoutUnprintable: String {
    String(UnicodeScalarView(unicodeScalars.lazy.filter(\.isPrintable)))
  }
}

extension Unicode.Scalar {
  /// Whether the character is visible or a space; it must not change a terminal's text direction or
  /// lines.
  fileprivate var isPrintable: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
    default: true
    }
  }

  /// Whether the character ends a line or is a tab.
  fileprivate var separatesWords: Bool {
    switch value {
    case 0x09...0x0D, 0x85, 0x2028, 0x2029: true
    default: false
    }
  }
}
