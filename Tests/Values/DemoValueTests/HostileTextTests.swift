import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import sq_demo

/// Server texts with characters that control a terminal, or hide or reverse text.
@Suite struct HostileTextTests {
  private static let text =
    "é a\u{9B}2J\u{9D}0;x\u{7}\u{1B}c\u{7F}\u{202E}\u{2066}\u{200B}\u{2028}\u{E0001}\u{FEFF}\u{AD}"

  private struct Report: Codable, Equatable {
    var title = text
  }

  private func isHarmless(_ text: String) -> Bool {
    !text.unicodeScalars.contains { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: true
      default: false
      }
    }
  }

  @Test func `a line of JSON escapes control characters and keeps its value`() throws {
    let json = try oneLineOfJSON(Report())
    #expect(isHarmless(json) && json.contains("é"))
    #expect(json.contains(#"\u009b2J\u009d0;x"#) && json.contains(#"\udb40\udc01"#))
    #expect(try JSONDecoder().decode(Report.self, from: Data(json.utf8)) == Report())
  }

  @Test func `the names and values of a user's claims are escaped in JSON`() throws {
    let claims: JSONValue = .object([Self.text: .array([.string(Self.text)])])
    let json = try oneLineOfJSON(claims)
    #expect(isHarmless(json))
    #expect(try JSONDecoder().decode(JSONValue.self, from: Data(json.utf8)) == claims)
  }

  @Test func `harmless JSON is not changed`() throws {
    #expect(try oneLineOfJSON(Report(title: "é / \"x\" 🎉")) == #"{"title":"é / \"x\" 🎉"}"#)
  }

  @Test func `a message keeps its line breaks and loses all other control characters`() {
    #expect(Self.text.onScreen == "é a?2J?0;x??c????????")
    #expect("a\n\u{9B}b\n".linesOnScreen == "a\n?b\n")
  }

  /// CR LF is one Character.
  @Test(arguments: [
    ("", ""), ("a", "a\n"), ("a\n", "a\n"), ("a\tb\n\nc", "a\tb\n\nc\n"),
    ("a\r\nb\r\n", "a\nb\n"), ("a\rb\u{1B}[2J", "a?b?[2J\n"), ("a\n\u{301}b", "a\n\u{301}b\n"),
    ("a\t\u{301}b", "a\t\u{301}b\n"),
  ])
  func `an answer keeps its lines and tabs, whatever its line ends`(text: String, shown: String) {
    #expect(text.contentOnScreen.unicodeScalars.elementsEqual(shown.unicodeScalars))
    if !text.utf8.contains(UInt8(ascii: "\t")) {
      #expect((text.linesOnScreen + "\n").hasPrefix(shown))
    }
  }

  @Test(arguments: ["T0KEN", "T0KEN\u{301}", "T0K%45N", "\u{D4E}T0KEN"])
  func `a token that a server's text repeats is not shown`(text: String) throws {
    var failure = Failure("x", "no \(text)!", status: .notAuthorized)
    failure.challenge = "Bearer realm=\"\(text)\""
    let hidden = failure.hiding(SQToken(accessToken: "T0KEN"))
    for shown in [hidden.message, try #require(hidden.challenge)] {
      // A mark after the token forms one Character with what is shown in its place.
      let letters = String(shown.unicodeScalars.filter(\.isASCII))
      #expect(!letters.contains("N") && letters.contains("[removed]"))
    }
    #expect(failure.hiding(nil) == failure)
  }

  @Test func `a very long word and a very long message are shortened`() {
    let long = String(repeating: "é", count: 100_000)
    let shown = "no \"\(long)\"; did you mean x?".abbreviated
    #expect(shown.count < 600 && shown.hasPrefix("no \"éé") && shown.contains("…"))
    #expect(shown.hasSuffix("\"; did you mean x?"))
    let path = "/" + String(repeating: "p", count: 490)
    #expect("cannot be read: \(path)".abbreviated == "cannot be read: \(path)")
    let many = String(repeating: "a ", count: 50_000).abbreviated
    #expect(many.count < 4100 && many.contains("…"))
  }
}
