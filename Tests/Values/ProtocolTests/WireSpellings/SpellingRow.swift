import Testing

@testable import SequencingOAuth

/// What becomes of one or more spellings of a kind at a reader.
struct SpellingRow: Sendable, CustomTestStringConvertible {
  enum Outcome: Sendable {
    /// The message counts; what is read of it contains the text.
    case read(String)
    /// What has the spelling counts as missing: all else is read as without it.
    case missing
    /// An error with this code and these words.
    case refused(SQOAuthError.Code, [String])
    /// Other suites test it; the marks are those of the overview.
    case elsewhere(marks: String, suites: [String])
    /// The reader cannot meet such a spelling.
    case impossible
  }

  let spelling: Spelling
  /// What has the spelling, in the article's words.
  let what: String
  /// What becomes of it in the article's words, if there is more to say than the outcome.
  var note: String?
  let messages: [WireMessage]
  let outcome: Outcome

  var testDescription: String { "\(spelling.rawValue): \(what)" }

  /// Whether the row's own messages are tested.
  var isTested: Bool { !messages.isEmpty }

  // MARK: Making

  static func read(
    _ spelling: Spelling, _ what: String, _ words: String, note: String? = nil,
    _ messages: [WireMessage]
  ) -> SpellingRow {
    SpellingRow(
      spelling: spelling, what: what, note: note, messages: messages, outcome: .read(words))
  }

  static func missing(
    _ spelling: Spelling, _ what: String, note: String? = nil, _ messages: [WireMessage]
  ) -> SpellingRow {
    SpellingRow(spelling: spelling, what: what, note: note, messages: messages, outcome: .missing)
  }

  static func refused(
    _ spelling: Spelling, _ what: String, _ code: SQOAuthError.Code, saying words: [String] = [],
    note: String? = nil, _ messages: [WireMessage]
  ) -> SpellingRow {
    SpellingRow(
      spelling: spelling, what: what, note: note, messages: messages,
      outcome: .refused(code, words))
  }

  /// A row of which `outcome` says what happens, and the suites test it.
  static func elsewhere(
    _ spelling: Spelling, _ what: String, _ marks: String, _ outcome: String,
    in suites: String...
  ) -> SpellingRow {
    SpellingRow(
      spelling: spelling, what: what, note: outcome, messages: [],
      outcome: .elsewhere(marks: marks, suites: suites))
  }

  static func impossible(_ spelling: Spelling, _ reason: String) -> SpellingRow {
    SpellingRow(spelling: spelling, what: reason, messages: [], outcome: .impossible)
  }

  // MARK: The article

  /// The marks of the row in the overview.
  var marks: String {
    switch outcome {
    case .read: "r"
    case .missing: "m"
    case .refused: "x"
    case .elsewhere(let marks, _): marks
    case .impossible: "–"
    }
  }

  /// The suites besides the reader's own that test the row.
  var suites: [String] {
    if case .elsewhere(_, let suites) = outcome { suites } else { [] }
  }

  /// The row in the reader's table.
  var line: String {
    let end =
      switch outcome {
      case .read: note ?? "read"
      case .missing: "counts as missing" + (note.map { "; \($0)" } ?? "")
      case .refused(let code, _): "refused: `\(code)`" + (note.map { "; \($0)" } ?? "")
      case .elsewhere:
        (note ?? "") + " (" + suites.map { "`\($0)`" }.joined(separator: ", ") + ")"
      case .impossible: "–"
      }
    return "| \(spelling.rawValue) | \(what) | \(end) |"
  }
}
