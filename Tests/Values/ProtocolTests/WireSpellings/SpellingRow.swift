import Testing

@testable import SequencingOAuth

/// One or more messages that differ from their specification in one way, and what a reader makes of
/// them.
struct SpellingRow: Sendable, CustomTestStringConvertible {
  enum Outcome: Sendable {
    /// The message is read, and the description of the result contains the text.
    case read(String)
    /// The member that differs from the specification counts as missing. The result is the same as
    /// without this member, and its description contains the text if there is one.
    case missing(String?)
    /// The message is rejected with an error of this code and these words.
    case refused(SQOAuthError.Code, [String])
    /// Other suites test the messages; `marks` are for the overview in `SpellingsOfServers.md`.
    case elsewhere(marks: String, suites: [String])
    /// The reader never gets such a message.
    case impossible
  }

  let spelling: Spelling
  /// What differs from the specification, in the words of the article `SpellingsOfServers.md`.
  ///
  /// If the outcome is `impossible`, the reason for it.
  let what: String
  /// The result in the words of the article, if the outcome does not say it all.
  var note: String?
  let messages: [WireMessage]
  let outcome: Outcome

  var testDescription: String { "\(spelling.rawValue): \(what)" }

  /// Whether the row has messages of its own to test.
  var isTested: Bool { !messages.isEmpty }

  // MARK: Creating

  static func read(
    _ spelling: Spelling, _ what: String, _ words: String, note: String? = nil,
    _ messages: [WireMessage]
  ) -> SpellingRow {
    SpellingRow(
      spelling: spelling, what: what, note: note, messages: messages, outcome: .read(words))
  }

  static func missing(
    _ spelling: Spelling, _ what: String, saying words: String? = nil, note: String? = nil,
    _ messages: [WireMessage]
  ) -> SpellingRow {
    SpellingRow(
      spelling: spelling, what: what, note: note, messages: messages, outcome: .missing(words))
  }

  static func refused(
    _ spelling: Spelling, _ what: String, _ code: SQOAuthError.Code, saying words: [String] = [],
    note: String? = nil, _ messages: [WireMessage]
  ) -> SpellingRow {
    SpellingRow(
      spelling: spelling, what: what, note: note, messages: messages,
      outcome: .refused(code, words))
  }

  /// Returns a row that other suites test.
  ///
  /// `outcome` says what happens.
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

  /// The row's marks in the overview of the article `SpellingsOfServers.md`.
  var marks: String {
    switch outcome {
    case .read: "r"
    case .missing: "m"
    case .refused: "x"
    case .elsewhere(let marks, _): marks
    case .impossible: "–"
    }
  }

  /// The suites that test the row, besides the reader's own suite.
  var suites: [String] {
    if case .elsewhere(_, let suites) = outcome { suites } else { [] }
  }

  /// The row's line in the table of the article `SpellingsOfServers.md`.
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
