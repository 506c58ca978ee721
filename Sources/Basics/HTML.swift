/// Markup that is safe to send: what is interpolated into it is text, and is escaped.
///
/// Only a literal of ours and other `HTML` come through as they are, so a page cannot echo a
/// script that someone put into a parameter.
package struct HTML: Sendable, Hashable, ExpressibleByStringInterpolation {
  package let markup: String

  package init(stringLiteral value: String) {
    markup = value
  }

  package init(stringInterpolation: StringInterpolation) {
    markup = stringInterpolation.markup
  }

  /// Pieces one behind the other.
  package init(_ pieces: some Sequence<HTML>) {
    markup = pieces.map(\.markup).joined(separator: "\n")
  }

  package static let empty: HTML = ""

  /// Text with `& < > " '` replaced, which makes it safe in content and in a quoted attribute.
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
      // A NUL is not allowed in HTML in any form.
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
