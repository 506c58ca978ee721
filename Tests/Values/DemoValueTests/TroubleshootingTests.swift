import Foundation
import SequencingOAuth
import TestSupport
import Testing

@testable import sq_demo

/// The article "Troubleshooting", compared with the error codes and with what the demo shows of the
/// article.
@Suite struct TroubleshootingTests {
  private static let file = PackageSources.root.appending(
    path: "Sources/SequencingOAuth/SequencingOAuth.docc/Troubleshooting.md")

  private static let small = Article(
    """
    # Title

    ## Codes of a store

    ### store_failed

    See [Accounts](doc:Accounts).

    Then \(Array(repeating: "word", count: 20).joined(separator: " ")).

    ### The clock is wrong

    Set it.
    """)

  // MARK: The article

  @Test func `the troubleshooting article has exactly one section for each public error code`()
    throws
  {
    let article = Article(try String(contentsOf: Self.file, encoding: .utf8))
    let codes = try PublicErrorCodes.all().map(\.code.rawValue)
    try #require(codes.count > 80)
    #expect(article.codes.sorted() == codes.sorted())
  }

  @Test func `each section about an error code has two to eight sentences`() throws {
    let article = Article(try String(contentsOf: Self.file, encoding: .utf8))
    for code in article.codes {
      let text = try #require(article.explanation(of: code)).text(width: .max)
      let sentences = text.matches(of: #/[.:?](\s|$)/#).count
      #expect((2...8).contains(sentences), "\(code) has \(sentences) sentences")
    }
  }

  @Test func `each section that the article refers to exists`() throws {
    let article = Article(try String(contentsOf: Self.file, encoding: .utf8))
    let headings = Set(article.sections.map(\.heading))
    let names = article.markdown.matches(of: #/[Ss]ee "([^"]+)"(?! of)/#).map { String($0.1) }
    try #require(!names.isEmpty)
    for name in names {
      #expect(headings.contains { $0.hasPrefix(name) || $0.hasPrefix("\"\(name)\"") }, "\(name)")
    }
  }

  @Test func `the demo has each option and command that the article names`() {
    let article = Article.troubleshooting.markdown
    let options = Set(SQDemo.commands.flatMap { $0.options }.map(\.name))
    let commands = Set(SQDemo.commands.map { $0.name })
    let namedOptions = article.matches(of: #/(--[a-z][a-z-]*)/#).map { String($0.1) }
    let namedCommands = article.matches(of: #/`sq-demo ([a-z]+)/#).map { String($0.1) }
    #expect(!namedOptions.isEmpty && options.isSuperset(of: namedOptions))
    #expect(!namedCommands.isEmpty && commands.isSuperset(of: namedCommands))
  }

  @Test func `the program contains the article as it is in the sources`() throws {
    let text = try String(contentsOf: Self.file, encoding: .utf8)
    let isContained = Article.troubleshooting.markdown == text
    #expect(isContained)
  }

  // MARK: The reader of the article

  @Test func `a heading is read as an error code only if it has the form of one`() {
    #expect(Self.small.codes == ["store_failed"])
    #expect(Self.small.explanation(of: "The clock is wrong") == nil)
    #expect(Self.small.explanation(of: "store_damaged") == nil)
    #expect(Article("").codes.isEmpty)
  }

  @Test func `a section's text ends at the next heading, fits the width and names linked articles`()
  {
    let words = Array(repeating: "word", count: 7).joined(separator: " ")
    #expect(
      Self.small.explanation(of: "store_failed")?.text(width: 40) == """
        store_failed

        See "Accounts".

        Then \(words)
        word \(words)
        word word word word word.
        """)
  }

  // MARK: The demo's errors

  /// Returns the codes with which the program's own sources make failures.
  private static func codesOfProgram() throws -> Set<String> {
    let texts = try PackageSources.paths(in: "Demo")
      .filter { $0.hasSuffix(".swift") && !$0.hasPrefix("Demo/Examples/") }
      .map(PackageSources.text)
    let patterns = [
      #/Failure\(\s*"([a-z_]+)",/#, #/static let keyUnavailable = "([a-z_]+)"/#,
      #/self\.init\(\s*"([a-z_]+)",/#,
    ]
    return Set(
      texts.flatMap { text in
        patterns.flatMap { text.matches(of: $0).map { String($0.output.1) } }
      })
  }

  @Test func `the demo explains each of its own error codes, and no error code of the SDK`() throws
  {
    let codes = try Self.codesOfProgram()
    try #require(codes.count > 20)
    let ofSDK = Set(Article.troubleshooting.codes)
    let own = codes.subtracting(ofSDK)
    #expect(Set(ProgramCodes.all) == own.union(["http_4xx"]))
    #expect(ProgramCodes.all == ProgramCodes.all.sorted())
    #expect(ofSDK.isDisjoint(with: ProgramCodes.all))
    for code in own {
      let text = try #require(ProgramCodes.explanation(of: code)?.paragraphs.first)
      #expect(text.count > 50 && text.hasSuffix("."), "\(code)")
    }
    #expect(ProgramCodes.explanation(of: "http_503")?.heading == "http_503")
    #expect(ProgramCodes.explanation(of: "http_5030") == nil)
  }

  @Test func `the demo has each option and command that an explanation names`() throws {
    let texts = ProgramCodes.all.compactMap { ProgramCodes.explanation(of: $0)?.paragraphs.first }
    let text = texts.joined(separator: "\n")
    let options = Set(SQDemo.commands.flatMap { $0.options }.map(\.name))
    let commands = Set(SQDemo.commands.map { $0.name } + ["help"])
    #expect(options.isSuperset(of: text.matches(of: #/(--[a-z][a-z-]*)/#).map { String($0.1) }))
    #expect(commands.isSuperset(of: text.matches(of: #/`sq-demo ([a-z]+)/#).map { String($0.1) }))
  }

  @Test(arguments: [SQOAuthError.Code.invalidGrant, .storeFailed, .timedOut, .accessDenied])
  func `the last line of an error with a code of the SDK says where to read more`(
    code: SQOAuthError.Code
  ) {
    let lines = Failure(SQOAuthError(code, "as asked")).lines
    #expect(lines.first == "error: \(code): as asked")
    #expect(lines.last == "'sq-demo explain \(code)' says more.")
    #expect(lines.count { $0.contains("explain") } == 1)
  }

  @Test(arguments: [
    Failure.interrupted, .usage("as asked"), Failure("http_503", "x", status: .notAuthorized),
    Failure(SQOAuthError(.init(rawValue: "of_a_server"), "x")),
  ])
  func `an interruption or an error without an article section does not suggest sq-demo explain`(
    failure: Failure
  ) {
    #expect(!failure.lines.contains { $0.contains("explain") })
  }
}
