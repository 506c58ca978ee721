import CSQTroubleshooting

/// An article of the documentation: a heading and its text for each subject.
struct Article: Sendable {
  /// The text below one heading, up to the next heading.
  struct Section: Sendable, Equatable {
    let heading: String
    /// The paragraphs in Markdown, each of one line.
    let paragraphs: [String]
  }

  /// The article "Troubleshooting", which is compiled into the program.
  static let troubleshooting = Article(String(cString: sq_troubleshooting()))

  let markdown: String
  let sections: [Section]

  init(_ markdown: String) {
    self.markdown = markdown
    let lines = markdown.split(separator: "\n")
    let starts = lines.indices.filter { lines[$0].hasPrefix("#") }
    sections = zip(starts, starts.dropFirst() + [lines.endIndex]).map { start, end in
      Section(
        heading: String(lines[start].drop { $0 == "#" || $0 == " " }),
        paragraphs: lines[(start + 1)..<end].map(String.init))
    }
  }

  /// The headings that are error codes, such as `invalid_grant`, in their order.
  var codes: [String] { codeSections.map(\.heading) }

  /// Returns the section of an error code, or `nil` if the article has none.
  func explanation(of code: String) -> Section? { codeSections.first { $0.heading == code } }

  private var codeSections: [Section] {
    sections.filter { $0.heading.wholeMatch(of: #/[a-z_]+/#) != nil }
  }

  /// Returns the whole article as text for a terminal.
  func text(width: Int) -> String {
    Self.text(markdown.split(separator: "\n").map(String.init), width: width)
  }

  /// Returns paragraphs as text for a terminal, with each link to an article replaced by the
  /// article's quoted name.
  fileprivate static func text(_ paragraphs: [String], width: Int) -> String {
    paragraphs.map { paragraph in
      let text = paragraph.replacing(#/\[([^\]]+)\]\([^)]+\)/#) { "\"\($0.output.1)\"" }
      return TextLayout.wrap(text, width: width).joined(separator: "\n")
    }.joined(separator: "\n\n")
  }
}

extension Article.Section {
  /// Returns the section as text for a terminal: its heading, then its paragraphs.
  func text(width: Int) -> String {
    Article.text([heading] + paragraphs, width: width)
  }
}
