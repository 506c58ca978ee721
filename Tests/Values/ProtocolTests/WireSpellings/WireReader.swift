import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// A suite for one reader of messages, and its section in the article `SpellingsOfServers.md`.
protocol WireReader: SpellingSource {
  /// The members of a correct message, each as its JSON text.
  static var base: [String: String] { get }

  /// Reads a message, and describes the result in one line.
  static func read(_ message: WireMessage) async throws(SQOAuthError) -> String
}

extension WireReader {
  static var base: [String: String] { [:] }

  // MARK: Messages

  /// Returns a JSON object: the members in the order of their names, and then `more`.
  private static func object(_ members: [String: String], _ more: String) -> String {
    let texts = members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
    return "{" + (texts + (more.isEmpty ? [] : [more])).joined(separator: ",") + "}"
  }

  /// Returns the correct message with changed members, and with the members in `more` at the end.
  static func with(_ changes: [String: String] = [:], adding more: String = "") -> WireMessage {
    WireMessage(
      object(base.merging(changes) { $1 }, more),
      plain: object(base.filter { changes[$0.key] == nil }, ""))
  }

  /// Returns a message for each value of each member.
  static func each(_ values: [String], of names: [String]) -> [WireMessage] {
    names.flatMap { name in values.map { with([name: $0]) } }
  }

  /// Returns a message without the member, for each of the names.
  static func without(_ names: [String]) -> [WireMessage] {
    names.map { name in WireMessage(object(base.filter { $0.key != name }, "")) }
  }

  // MARK: The check

  /// Reads the messages of a row, and compares the results with the outcome of the row.
  static func check(_ row: SpellingRow) async {
    for message in row.messages {
      let shown = Comment(rawValue: "\(message.text) (\(message.type ?? "no type"))")
      do throws(SQOAuthError) {
        let reading = try await read(message)
        switch row.outcome {
        case .read(let words): #expect(reading.contains(words), shown)
        case .missing(let words):
          let expected = try await read(message.withoutSpelling)
          #expect(reading == expected, shown)
          if let words { #expect(reading.contains(words), shown) }
        default: Issue.record("a message was read as \(reading), but not rejected: \(shown)")
        }
      } catch {
        guard case .refused(let code, let words) = row.outcome else {
          Issue.record("a message that can be read was rejected, \(error): \(shown)")
          continue
        }
        #expect(error.code == code, shown)
        for text in words { #expect(error.message.contains(text), shown) }
        #expect(!everyText(of: error).contains("C4N4RY"), shown)
      }
    }
  }
}
