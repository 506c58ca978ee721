/// The width and the symbols that a view draws with, and the common parts of views.
struct Canvas: Sendable, Equatable {
  /// The maximum width of a text that is easy to read, in columns.
  static let widest = 76
  /// The column where the values of fields begin.
  static let fieldIndent = 10

  let width: Int
  let glyphs: Glyphs

  init(columns: Int, glyphs: Glyphs) {
    width = max(1, min(columns - 2 * Page.margin, Self.widest))
    self.glyphs = glyphs
  }

  /// Creates a canvas of any width, for texts that are not shown on a screen.
  init(width: Int, glyphs: Glyphs) {
    (self.width, self.glyphs) = (width, glyphs)
  }

  /// Returns a paragraph on as many lines as it needs.
  func paragraph(_ text: String, _ style: Style = .plain) -> [Line] {
    TextLayout.wrap(text.onScreen, width: width).map { Line(Span($0, style)) }
  }

  /// Returns a text on at most `most` lines, with an ellipsis if the text is cut.
  func lines(_ text: String, indent: Int, atMost most: Int, _ style: Style) -> [Line] {
    let lines = TextLayout.wrap(text.onScreen, width: width - indent)
    guard lines.count > max(1, most) else { return lines.map { Line(Span($0, style)) } }
    let kept = lines.prefix(max(1, most) - 1)
    let rest = lines.dropFirst(kept.count).joined(separator: " ")
    let last = TextLayout.fit(rest, width: width - indent, ellipsis: glyphs.ellipsis)
    return (kept + [last]).map { Line(Span($0, style)) }
  }

  /// Returns a line with a name and its value.
  func field(_ name: String, _ value: Span) -> Line {
    let padding = String(repeating: " ", count: max(1, Self.fieldIndent - TextLayout.columns(name)))
    return Line(Span(name + padding, .faint), value)
  }

  /// Returns the lines of a field whose value has several lines.
  func field(_ name: String, _ lines: [Line]) -> [Line] {
    lines.enumerated().map { index, line in
      Line(spans: field(index == 0 ? name : "", Span("")).spans.prefix(1) + line.spans)
    }
  }

  /// A horizontal rule across the whole width.
  var rule: Line {
    Line(Span(String(repeating: glyphs.rule, count: width), .faint)).weighing(.rule)
  }

  /// Returns a list of keys that the user can press, on as many lines as it needs.
  func keys(_ keys: [KeyHint]) -> [Line] {
    let separator = Span("  \(glyphs.dot)  ", .faint)
    return keys.reduce(into: [Line]()) { lines, hint in
      let spans = [Span(hint.key, .accent), Span(" " + hint.meaning)]
      let candidate = Line(spans: (lines.last.map { $0.spans + [separator] } ?? []) + spans)
      if let last = lines.indices.last, TextLayout.columns(candidate.text) <= width {
        lines[last] = candidate
      } else {
        lines.append(Line(spans: spans))
      }
    }
  }

  /// Returns a bar that is filled to a fraction.
  func bar(_ fraction: Double, width: Int, _ style: Style) -> [Span] {
    let halves = Int((max(0, min(1, fraction)) * Double(width * 2)).rounded())
    let hasHalf = halves % 2 == 1
    let full = String(repeating: glyphs.barFull, count: halves / 2)
    let empty = String(
      repeating: glyphs.barEmpty, count: max(0, width - halves / 2 - (hasHalf ? 1 : 0)))
    return [Span(full + (hasHalf ? glyphs.barHalf : ""), style), Span(empty, .faint)]
  }
}

/// A key and its effect.
struct KeyHint: Sendable, Equatable {
  let key: String
  let meaning: String

  init(_ key: String, _ meaning: String) {
    self.key = key
    self.meaning = meaning
  }
}
