/// HTML markup that escapes every text interpolated into it.
///
/// Only literals in the code and other `HTML` values count as markup, so a page cannot run a script
/// that an attacker put into a parameter.
package struct HTML: Sendable, Hashable, ExpressibleByStringInterpolation {
  package let markup: String

  package init(stringLiteral value: String) {
    markup = value
  }

  package init(stringInterpolation: StringInterpolation) {
    markup = stringInterpolation.markup
  }

  /// Joins pieces of markup in order, with line feeds between them.
  package init(_ pieces: some Sequence<HTML>) {
    markup = pieces.map(\.markup).joined(separator: "\n")
  }

  package static let empty: HTML = ""

  /// Escapes `& < > " '` in a text, so that it is safe in content and in a quoted attribute.
  package static func escape(_ text: String) -> String {
    var escaped = ""
    escaped.reserveCapacity(text.utf8.count)
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      // HTML allows no NUL, not even an escaped one.
      case "\0": escaped += "\u{FFFD}"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  package struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var markup = ""

    package init(literalCapacity: Int, interpolationCount: Int) {
      markup.reserveCapacity(literalCapacity)
    }

    package mutating func appendLiteral(_ literal: String) {
      markup += literal
    }

    package mutating func appendInterpolation(_ text: String) {
      markup += HTML.escape(text)
    }

    package mutating func appendInterpolation(_ number: Int) {
      markup += String(number)
    }

    package mutating func appendInterpolation(_ html: HTML) {
      markup += html.markup
    }
  }
}
