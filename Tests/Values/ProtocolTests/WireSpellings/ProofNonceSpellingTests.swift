import Foundation
import Testing

@testable import SequencingOAuth

/// The field with a server's nonce for proofs.
@Suite struct ProofNonceSpellingTests: WireReader {
  static let title = "`DPoP-Nonce`"
  static let specification = "RFC 9449, sections 8.1 and 8.2"

  /// Reads the lines of a response's head, after a response with the nonce `old`.
  static func read(_ message: WireMessage) throws(SQOAuthError) -> String {
    let servers = ProofServers()
    let server = ProofServers.Server(try RequestTarget(text: "https://api.example/"), .resource)
    servers.learn(["DPoP-Nonce": "old"], from: server)
    var fields: HeaderFields = [:]
    for line in message.text.split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      fields.append(.init(name: String(parts[0]), value: parts.last.map(String.init) ?? ""))
    }
    servers.learn(fields, from: server)
    return "nonce \(servers.known(server).nonce ?? "-");"
  }

  private static func heads(_ texts: String...) -> [WireMessage] {
    texts.map { WireMessage($0, plain: "") }
  }

  static let rows: [SpellingRow] = [
    .impossible(.null, "a field has texts alone"),
    .missing(.empty, "the field", heads("DPoP-Nonce:")),
    .impossible(.kind, "every text of the allowed characters is a nonce"),
    .read(
      .list, "two fields", "nonce old;", note: "neither counts",
      heads("DPoP-Nonce:one\nDPoP-Nonce:two")),
    .read(
      .list, "commas, semicolons and equals signs", "nonce a,b;c=d;", heads("DPoP-Nonce:a,b;c=d")),
    .missing(
      .encoding, "characters outside ASCII, quotes", heads("DPoP-Nonce:\u{E9}", "DPoP-Nonce:a\"b")),
    .impossible(.contentType, "the field stands beside it"),
    .read(.more, "unknown fields", "nonce n;", heads("DPoP-Nonce:n\nDPoP-Other:x")),
    .read(.letterCase, "the name of the field", "nonce n;", heads("dpop-nonce:n", "DPOP-NONCE:n")),
    .impossible(.unneeded, "there is no other part"),
    .missing(
      .number, "more than 1024 characters",
      heads("DPoP-Nonce:" + String(repeating: "n", count: 1025))),
    .missing(.blanks, "inside the nonce", heads("DPoP-Nonce:a b")),
    .read(.missing, "the field", "nonce old;", note: "the known nonce stays", [WireMessage("")]),
  ]

  @Test(arguments: rows.filter(\.isTested))
  func `each deviation from the specification has the outcome in its table row`(
    row: SpellingRow
  ) async {
    await Self.check(row)
  }
}
