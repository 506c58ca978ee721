/// A parser that splits a command into words by the quoting rules of a POSIX shell.
///
/// Expansions, operators and comments have no meaning here.
///
/// - SeeAlso: POSIX.1, Shell Command Language, section 2.2
package enum ShellWords {
  /// Splits a command; returns `nil` if a quote is not closed or if a backslash ends the text.
  package static func split(_ text: String) -> [String]? {
    var words: [String] = []
    var word: String?
    // The text is read by scalars, because a quote and a combining mark form one Character.
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

  /// Splits a list at each separator outside quotes; the parts keep their quotes.
  ///
  /// Returns `nil` if a quote is not closed or if a backslash ends the text.
  package static func splitList(_ text: String, at separator: Unicode.Scalar) -> [String]? {
    var parts = [""]
    var quote: Unicode.Scalar?
    var isEscaped = false
    for scalar in text.unicodeScalars {
      if isEscaped {
        isEscaped = false
      } else if scalar == "\\", quote != "'" {
        isEscaped = true
      } else if let open = quote {
        if scalar == open { quote = nil }
      } else if scalar == "'" || scalar == "\"" {
        quote = scalar
      } else if scalar == separator {
        parts.append("")
        continue
      }
      parts[parts.count - 1].unicodeScalars.append(scalar)
    }
    return quote == nil && !isEscaped ? parts : nil
  }

  /// Reads up to the closing quote.
  ///
  /// A backslash is special only before `$`, `` ` ``, `"`, `\` and a newline.
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
