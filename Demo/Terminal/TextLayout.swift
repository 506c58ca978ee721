/// Functions that fit text into columns.
enum TextLayout {
  /// The width of texts that are not screens, in columns: 80, or fewer on a narrow terminal.
  static let width = min(80, TextStream(descriptor: 1).size.columns)

  /// Breaks a paragraph between words into lines of at most `width` columns, and keeps longer words
  /// whole.
  static func wrap(_ text: String, width: Int) -> [String] {
    var lines: [String] = []
    for word in text.split(separator: " ") {
      if let last = lines.last, columns(last) + 1 + columns(word) <= width {
        lines[lines.count - 1] += " " + word
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }

  /// Shortens a text to a width, with an ellipsis in place of the rest.
  static func fit(_ text: String, width: Int, ellipsis: String = "…") -> String {
    guard columns(text) > width else { return text }
    var fitted = ""
    var room = width - columns(ellipsis)
    for character in text {
      room -= columns(character)
      guard room >= 0 else { break }
      fitted.append(character)
    }
    return width < columns(ellipsis) ? "" : fitted + ellipsis
  }

  /// Returns the number of columns that a terminal needs for a text.
  static func columns(_ text: some StringProtocol) -> Int {
    text.reduce(0) { $0 + columns($1) }
  }

  private static func columns(_ character: Character) -> Int {
    switch character.unicodeScalars.first?.value ?? 0 {
    // The blocks of East Asian wide characters and of emoji.
    case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
      0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
      2
    default: 1
    }
  }
}

extension StringProtocol {
  /// The text with `?` in place of control characters, so that texts of servers and users cannot
  /// control the terminal.
  var onScreen: String {
    var text = String.UnicodeScalarView()
    for scalar in unicodeScalars { text.append(scalar.commandsTerminals ? "?" : scalar) }
    return String(text)
  }

  /// The text with long words shortened, so that a repeated argument does not fill the screen.
  ///
  /// If the text is still too long, its middle is removed.
  var abbreviated: String {
    let words = split(separator: " ", omittingEmptySubsequences: false)
      .map { $0.shortened(to: 500) }.joined(separator: " ")
    return words.shortened(to: 4000)
  }

  private func shortened(to most: Int) -> String {
    guard unicodeScalars.count > most else { return String(self) }
    let scalars = unicodeScalars
    return String(String.UnicodeScalarView(scalars.prefix(most * 3 / 4))) + "…"
      + String(String.UnicodeScalarView(scalars.suffix(most / 4)))
  }
}

extension String {
  /// The lines of the text, which end in LF or CR LF.
  var lines: [String] {
    // The text is read by scalars, because CR LF is one Character.
    unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
      .map { String($0.last == "\r" ? $0.dropLast() : $0) }
  }

  /// The lines of the text, each without control characters.
  var linesOnScreen: String { lines.map(\.onScreen).joined(separator: "\n") }

  /// The whole lines of a server's content, each without control characters except tabs.
  var contentOnScreen: String {
    let shown = lines.map { line in
      line.unicodeScalars.split(separator: "\t", omittingEmptySubsequences: false)
        .map { String($0).onScreen }.joined(separator: "\t")
    }.joined(separator: "\n")
    return shown.isEmpty || shown.utf8.last == UInt8(ascii: "\n") ? shown : shown + "\n"
  }
}

extension Unicode.Scalar {
  /// Whether the character may move a terminal's cursor, change the direction of text, or be
  /// invisible.
  var commandsTerminals: Bool {
    switch properties.generalCategory {
    case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}
