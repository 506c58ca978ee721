/// A run of text in one style.
struct Span: Sendable, Equatable, ExpressibleByStringLiteral {
  var text: String
  var style: Style = .plain

  init(_ text: String, _ style: Style = .plain) {
    self.text = text.onScreen
    self.style = style
  }

  init(stringLiteral text: String) {
    self.init(text)
  }
}

/// The meaning of a text; the meaning determines the look.
enum Style: Sendable {
  case plain
  case heading
  case faint
  case accent
  case good
  case warning
  case bad

  /// Returns the terminal's code for the style.
  ///
  /// The palette's colors have a contrast of about 4.5 to 1 on white and on black, so the program
  /// does not need to know the terminal's background.
  func code(_ colours: Appearance.Colours) -> String? {
    switch (self, colours) {
    case (.plain, _): nil
    case (.heading, _): "1"
    case (.faint, .palette): "38;5;243"
    case (.faint, _): nil
    case (.accent, .palette): "1;38;5;30"
    case (.accent, .basic): "1;36"
    case (.accent, .none): "1"
    case (.good, .palette): "38;5;28"
    case (.good, .basic): "32"
    case (.warning, .palette): "38;5;130"
    case (.warning, .basic): "33"
    case (.bad, .palette): "38;5;160"
    case (.bad, .basic): "31"
    case (.good, .none), (.warning, .none), (.bad, .none): nil
    }
  }
}

/// The importance of a line; a screen with too few rows drops the lines of the first cases first.
enum Weight: Int, Sendable, CaseIterable {
  case detail
  case context
  /// A horizontal line that only separates other lines.
  case rule
  /// The title of the screen.
  case title
  /// A reason, such as the reason of an error.
  case reason
  /// The progress of the program's work.
  case progress
  /// Information that the user needs to continue, such as a password to type.
  case needed
  case essential
}

/// One line of a screen.
struct Line: Sendable, Equatable, ExpressibleByStringLiteral {
  var spans: [Span]
  /// Whether the line is an address, which the terminal itself wraps so that the user can copy it.
  var isAddress = false
  var weight = Weight.essential

  static let blank = Line()

  /// Whether the line is empty.
  var isBlank: Bool { spans.isEmpty }

  init(_ spans: Span...) {
    self.spans = spans
  }

  init(spans: [Span]) {
    self.spans = spans
  }

  init(stringLiteral text: String) {
    self.init(Span(text))
  }

  /// Returns a line with an address; the terminal wraps a long address, so nothing is cut off.
  static func address(_ text: String) -> Line {
    var line = Line(Span(text, .accent))
    line.isAddress = true
    return line
  }

  /// The text without its styles.
  var text: String { spans.map(\.text).joined() }

  /// Returns the line with another weight.
  func weighing(_ weight: Weight) -> Line {
    var line = self
    line.weight = weight
    return line
  }

  /// Returns the line, shortened to a width unless it is an address.
  func fitted(_ width: Int, _ glyphs: Glyphs) -> Line {
    guard !isAddress else { return self }
    var room = width
    var line = self
    line.spans = spans.map { span in
      let fitted = TextLayout.fit(span.text, width: room, ellipsis: glyphs.ellipsis)
      room = fitted == span.text ? room - TextLayout.columns(fitted) : 0
      return Span(fitted, span.style)
    }
    return line
  }

  /// Returns the number of rows that the line needs: more than one only for an address.
  func height(_ columns: Int) -> Int {
    guard isAddress, columns > 0 else { return 1 }
    return (TextLayout.columns(text) + columns - 1) / columns
  }

  /// Returns the text that draws the line over the previous content of its rows.
  func row(_ colours: Appearance.Colours, columns: Int) -> String {
    let clearRest = "\u{1B}[K"
    guard isAddress else {
      let indent = spans.isEmpty ? "" : String(repeating: " ", count: Page.margin)
      return indent + encoded(colours) + clearRest
    }
    // In a full row, the cursor is still on the last character, which clearing would remove.
    let isFull = TextLayout.columns(text).isMultiple(of: max(1, columns))
    return encoded(colours) + (isFull ? "" : clearRest)
  }

  /// Returns the text with the terminal's codes for its styles.
  func encoded(_ colours: Appearance.Colours) -> String {
    spans.map { span in
      guard let code = span.style.code(colours), !span.text.isEmpty else { return span.text }
      return "\u{1B}[\(code)m\(span.text)\u{1B}[0m"
    }.joined()
  }
}

extension [Line] {
  /// Returns the lines with another weight.
  func weighing(_ weight: Weight) -> [Line] {
    map { $0.weighing(weight) }
  }
}
