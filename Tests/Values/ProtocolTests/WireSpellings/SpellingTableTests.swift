import Foundation
import Testing

@testable import TestSupport

/// The article with the tables, which must match the rows of the tests exactly.
@Suite struct SpellingTableTests {
  static var readers: [any SpellingSource.Type] {
    [
      TokenResponseSpellingTests.self, ErrorBodySpellingTests.self, RedirectSpellingTests.self,
      SignedResponseSpellingTests.self, IDTokenSpellingTests.self, SignedHeaderSpellingTests.self,
      KeySetSpellingTests.self,
      MetadataSpellingTests.self, DeviceResponseSpellingTests.self, RegistrationSpellingTests.self,
      IntrospectionSpellingTests.self, AccessTokenSpellingTests.self, UserInfoSpellingTests.self,
      LogoutTokenSpellingTests.self, RevocationSpellings.self, LogoutRedirectSpellingTests.self,
      ChallengeSpellingTests.self, ProofNonceSpellingTests.self, ResponseFieldSpellingTests.self,
      PagingSpellingTests.self,
      ClientKeySpellingTests.self, KeptRecordSpellingTests.self, CallStatusSpellings.self,
    ]
  }

  private static let article = PackageSources.root.appending(
    path: "Sources/SequencingOAuth/SequencingOAuth.docc/SpellingsOfServers.md")

  /// The part of the article that the tests generate.
  private static var tables: String {
    let names = Spelling.allCases.map(\.rawValue).joined(separator: " | ")
    let line = String(repeating: "---|", count: Spelling.allCases.count + 1)
    return """
      ## The overview

      | | \(names) |
      |\(line)
      \(readers.map { $0.overview }.joined(separator: "\n"))

      ## The readers

      \(readers.map { $0.section }.joined(separator: "\n\n"))

      """
  }

  @Test func `the article SpellingsOfServers has exactly the rows of the tests`() throws {
    var text = try String(contentsOf: Self.article, encoding: .utf8)
    let start = try #require(text.range(of: "## The overview\n"))
    if ProcessInfo.processInfo.environment["SQ_DRAW"] != nil {
      text.replaceSubrange(start.lowerBound..., with: Self.tables)
      try Data(text.utf8).write(to: Self.article)
    }
    #expect(
      text[start.lowerBound...] == Self.tables,
      "run SQ_DRAW=1 Scripts/test --filter SpellingTable to write it again")
  }

  @Test(arguments: readers.indices)
  func `each type of message has a row for every kind of deviation`(index: Int) {
    let reader = Self.readers[index]
    for spelling in Spelling.allCases {
      let rows = reader.rows.filter { $0.spelling == spelling }
      #expect(!rows.isEmpty, "\(reader): \(spelling.rawValue)")
    }
  }

  @Test func `every suite that a row names exists`() throws {
    let paths = try PackageSources.paths(in: "Tests")
    let named = Self.readers.flatMap { $0.rows.flatMap(\.suites) + [$0.suite].compactMap(\.self) }
    #expect(named.count > 60)
    for suite in Set(named) {
      let path = try #require(paths.first { $0.hasSuffix("/\(suite).swift") }, "\(suite)")
      let text = try PackageSources.text(of: path)
      #expect(text.contains("struct \(suite)"), "\(suite)")
    }
  }
}
