import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import SequencingOAuthPipes
@testable import TestSupport

/// The texts of a response's header fields, which may have any character.
@Suite struct HeaderFieldTextTests {
  private func isSafe(_ fields: HeaderFields) -> Bool {
    fields.allSatisfy { $0.name.isStreamSafe && $0.value.isStreamSafe }
  }

  @Test func `many combining marks in a row of a field are separated`() throws {
    let run = marks(31)
    let lines = "A: \(run)\r\nB: x\r\n \(run)\r\n\(run): y\r\nC: \(marks(30))\r\n"
    let fields = try #require(HeaderFields(lines: Array(lines.utf8)))
    #expect(isSafe(fields))
    #expect(fields["A"] == run.streamSafe && fields["B"] == "x \(run.streamSafe)")
    #expect(fields["C"] == marks(30))
  }

  @Test func `the fields of an app's own HTTP client are treated in the same way`() async throws {
    let run = marks(31)
    let transport = ScriptedTransport { _ in
      WebResponse(status: 200, headers: ["A": run, run: "b"], trailers: ["C": run])
    }
    let response = try await transport.exchange(WebRequest(url: "https://s.example/"))
    #expect(isSafe(response.headers) && isSafe(response.trailers))
    #expect(response.headers["A"] == run.streamSafe && response.headers.count == 2)
    let plain = HeaderFields([.init(name: "A", value: marks(30))])
    #expect(plain.streamSafe == plain)
  }

  /// A backslash escapes the next character, and is not a part of the text.
  @Test func `marks that only backslashes separate are separated in a quoted text`() throws {
    let quoted = "\"" + Array(repeating: marks(20), count: 3).joined(separator: "\\") + "\""
    let challenges = AuthenticationChallenge.challenges(in: ["Bearer realm=\(quoted)"])
    let realm = try #require(challenges.first?.parameters["realm"])
    #expect(realm.isStreamSafe && realm.unicodeScalars.contains("\u{34F}"))
    let links = LinkHeader.links(in: ["<https://s.example/>; rel=\(quoted)"])
    #expect(links.count == 1 && links.keys.allSatisfy(\.isStreamSafe))
  }

  @Test func `a mark after a comma or an equals sign does not hide the directives beside it`() {
    let fresh = HTTPFreshness.seconds(["Cache-Control": "max-age=900,\u{301}x"])
    #expect(fresh == 900)
    #expect(HTTPFreshness.seconds(["Cache-Control": "x=\u{301},max-age=\"900\""]) == 900)
  }

  @Test func `a date has only ASCII characters`() {
    let now = Date(timeIntervalSince1970: 784_111_777)
    #expect(HTTPDate.parse("Sun, 06 Nov 1994 08:49:37 GMT", now: now) == now)
    #expect(HTTPDate.parse("S\u{301}n, 06 Nov 1994 08:49:37 GMT", now: now) == nil)
  }
}
