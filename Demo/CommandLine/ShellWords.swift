/// Splits a command into words as a POSIX shell does, with quotes and backslashes, but without
/// expansions.
///
/// - SeeAlso: POSIX.1, Shell Command Language, section 2.2
enum ShellWords {
  /// Splits a text; returns `nil` if a quote is not closed or if a backslash ends the text.
  static func split(_ text: String) -> [String]? {
    var words: [String] = []
    var word: String?
    // Scalars, since a quote and a combining mark after it are one Character.
    var rest = text.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      switch scalar {
      case " ", "\t", "\n":
        if let word { words.append(word) }
        word = nil
      case "'":
        guard let end = rest.firstIndex(of: "'") else { return nil }
        word = (word ?? "") + String(rest[..<end])
        rest = rest[rest.index(after: end)...]
      case "\"":
        guard let quoted = readDoubleQuoted(&rest) else { return nil }
        word = (word ?? "") + quoted
      case "\\":
        guard let escaped = rest.popFirst() else { return nil }
        // An escaped newline joins two lines and leaves nothing.
        if escaped != "\n" { word = (word ?? "") + String(escaped) }
      default:
        word = (word ?? "") + String(scalar)
      }
    }
    return words + [word].compactMap(\.self)
  }

  /// Quotes a word for a shell, if necessary.
  static func quote(_ word: String) -> String {
    let isPlain = word.unicodeScalars.allSatisfy {
      $0.isASCII && ($0.properties.isAlphabetic || ("0"..."9").contains($0))
        || "_-.,:/@%+=".unicodeScalars.contains($0)
    }
    guard !isPlain || word.isEmpty else { return word }
    return "'" + word.replacing("'", with: #"'\''"#) + "'"
  }

  /// Reads up to the closing quote; a backslash counts only before `$`, `` ` ``, `"`, `\` and a
  /// newline.
  private static func readDoubleQuoted(_ rest: inout Substring.UnicodeScalarView) -> String? {
    var text = String.UnicodeScalarView()
    while let scalar = rest.popFirst() {
      switch scalar {
      case "\"":
        return String(text)
      case "\\":
        guard let escaped = rest.popFirst() else { return nil }
        if escaped == "\n" { continue }
        if !"$`\"\\".unicodeScalars.contains(escaped) { text.append("\\") }
        text.append(escaped)
      default:
        text.append(scalar)
      }
    }
    return nil
  }
}
