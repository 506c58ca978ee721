/// A run of text in one style.
struct Span: Sendable, Equatable, ExpressibleByStringLiteral {
  var text: String
  var style: Style = .plain

  init(_ text: String, _ style: Style = .plain) {
    self.text = text.printable
    self.style = style
  }

  init(stringLiteral text: String) {
    self.init(text)
  }
}

/// What a text means, from which its looks follow.
enum Style: Sendable {
  case plain
  case heading
  case faint
  case accent
  case good
  case warning
  case bad

  /// The terminal's code for it.
  ///
  /// The colours of the palette have a contrast of about 4.5 to 1 on white and on black alike, so
  /// that nobody needs to know which of the two the terminal has.
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

/// How soon a line goes from a screen that is too low for all of them: the first goes first.
enum Weight: Int, Sendable, CaseIterable {
  case detail
  case context
  /// A line across, which only divides.
  case rule
  /// The title of the screen.
  case title
  /// Why something is as it is.
  case reason
  /// What the program does meanwhile.
  case progress
  /// What the person must know to go on, such as a password to type.
  case needed
  case essential
}

/// One line of a screen.
struct Line: Sendable, Equatable, ExpressibleByStringLiteral {
  var spans: [Span]
  /// Whether the terminal itself wraps it from the first column on, so that it can be copied whole.
  var isAddress = false
  var weight = Weight.essential

  static let blank = Line()

  /// Whether nothing is on it, whatever it weighs.
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

  /// An address in full.
  static func address(_ text: String) -> Line {
    var line = Line(Span(text, .accent))
    line.isAddress = true
    return line
  }

  /// The text without its styles.
  var text: String { spans.map(\.text).joined() }

  /// The line with another weight.
  func weighing(_ weight: Weight) -> Line {
    var line = self
    line.weight = weight
    return line
  }

  /// The line shortened to a width.
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

  /// The line as it is written over what stands in its row, or in its rows if it is an address.
  func row(_ colours: Appearance.Colours, columns: Int) -> String {
    let clearRest = "\u{1B}[K"
    guard isAddress else {
      let indent = spans.isEmpty ? "" : String(repeating: " ", count: Page.margin)
      return indent + encoded(colours) + clearRest
    }
    // In a row that is full the cursor still stands on the last sign, which would be cleared.
    let isFull = TextLayout.columns(text).isMultiple(of: max(1, columns))
    return encoded(colours) + (isFull ? "" : clearRest)
  }

  /// The text with the terminal's codes for its styles.
  func encoded(_ colours: Appearance.Colours) -> String {
    spans.map { span in
      guard let code = span.style.code(colours), !span.text.isEmpty else { return span.text }
      return "\u{1B}[\(code)m\(span.text)\u{1B}[0m"
    }.joined()
  }
}

extension [Line] {
  /// The lines with another weight.
  func weighing(_ weight: Weight) -> [Line] {
    map { $0.weighing(weight) }
  }
}
