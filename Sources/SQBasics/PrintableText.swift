extension String {
  /// The text in a form that is safe to show: no control characters, and at most 500 characters.
  ///
  /// A longer text ends with "…". A space replaces line ends and tabs, so that words stay apart.
  /// Use it for text from servers, file names and the environment. Such text may contain anything.
  package var printable: String {
    let shown = printable(atMost: 501)
    guard shown.unicodeScalars.count > 500 else { return shown }
    return String(String.UnicodeScalarView(shown.unicodeScalars.prefix(499))) + "…"
  }

  /// Returns the text without control characters, cut off after `count` characters.
  ///
  /// A space replaces line ends and tabs between words.
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

  /// The whole text without unprintable characters; no space replaces them.
  package var withoutUnprintable: String {
    String(UnicodeScalarView(unicodeScalars.lazy.filter(\.isPrintable)))
  }
}

extension Unicode.Scalar {
  /// Whether the character is visible or a space.
  ///
  /// A character that changes a terminal's text direction or starts a new line is not printable.
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
