/// One reader of messages from servers, with its section in the article `SpellingsOfServers.md`.
protocol SpellingSource {
  /// The reader's heading in the article.
  static var title: String { get }
  /// The specifications of the message.
  static var specification: String { get }
  static var rows: [SpellingRow] { get }
}

extension SpellingSource {
  /// The name of the reader's own suite, or `nil` if other suites test all of its rows.
  static var suite: String? { rows.contains(where: \.isTested) ? "\(self)" : nil }

  /// The reader's line in the overview.
  static var overview: String {
    let cells = Spelling.allCases.map { spelling in
      let marks = Set(rows.filter { $0.spelling == spelling }.flatMap { $0.marks.map(String.init) })
      return ["r", "m", "x", "–"].filter(marks.contains).joined(separator: " ")
    }
    return "| \(title) | \(cells.joined(separator: " | ")) |"
  }

  /// The reader's section in the article.
  static var section: String {
    let lines = Spelling.allCases.flatMap { spelling in
      rows.filter { $0.spelling == spelling }.map(\.line)
    }
    let tests = suite.map { "Its suite is `\($0)`." } ?? "Other suites test it."
    return """
      ### \(title)

      \(specification). \(tests)

      | spelling | of what | result |
      |---|---|---|
      \(lines.joined(separator: "\n"))
      """
  }
}
