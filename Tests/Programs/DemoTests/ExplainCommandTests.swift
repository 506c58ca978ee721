import ProgramSupport
import TestSupport
import Testing

@testable import sq_demo

@Suite(.timeLimit(.minutes(1))) struct `The explain command` {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test func `explain prints the section of an error code, in lines that fit a terminal`()
    async throws
  {
    let outcome = try await DemoProcess.run(["explain", "id_token_issuer"], in: folder)
    #expect(outcome.status == 0 && outcome.errors.isEmpty)
    #expect(outcome.lines.first == "id_token_issuer")
    #expect(outcome.output.contains("`common`, need the issuer of one tenant."))
    #expect(!outcome.output.contains("id_token_subject"))
    #expect(outcome.lines.allSatisfy { $0.count <= 80 })
  }

  @Test func `explain without an error code prints the whole troubleshooting article`() async throws
  {
    let outcome = try await DemoProcess.run(["explain"], in: folder)
    #expect(outcome.status == 0 && outcome.errors.isEmpty)
    #expect(outcome.lines.first == "# Troubleshooting")
    for heading in ["### The browser does not open", "### invalid_grant"] {
      #expect(outcome.lines.contains { $0 == heading }, "\(heading)")
    }
    #expect(!outcome.output.contains("](doc:"))
  }

  @Test func `explain suggests an error code for a misspelled one`() async throws {
    let outcome = try await DemoProcess.run(["explain", "invalid_grand"], in: folder)
    #expect(outcome.status == 2 && outcome.output.isEmpty)
    #expect(
      outcome.firstError == "error: usage: nothing explains the code \"invalid_grand\""
        + "; did you mean invalid_grant?")
    #expect(outcome.errors.contains("\nWhat a server's own code means, only the server's "))
  }

  @Test(arguments: [
    ("no_account", "sq-demo accounts"), ("usage", "sq-demo help"), ("http_404", "404"),
    ("failed", "the lines that it prints show how far it comes"),
  ])
  func `explain also explains the error codes of the demo itself`(code: String, words: String)
    async throws
  {
    let outcome = try await DemoProcess.run(["explain", code], in: folder)
    #expect(outcome.status == 0 && outcome.lines.first == code[...], "\(outcome.errors)")
    let text = outcome.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(text.contains(words), "\(text)")
    #expect(outcome.lines.allSatisfy { $0.count <= 80 })
  }

  @Test func `the explain command that an error suggests works as printed`() async throws {
    try folder.write("no store", to: "store")
    let failed = try await DemoProcess.run(
      ["token", "--store", "file:\(folder.file("store"))"], in: folder)
    let code = try #require(failed.firstError.split(separator: ":").dropFirst().first)
    let words = try #require(
      failed.errors.firstMatch(of: #/'sq-demo (explain \w+)' says more\.\n$/#)
    ).output.1.split(separator: " ").map(String.init)
    #expect(failed.status == 1 && words.last == String(code.dropFirst()))
    let outcome = try await DemoProcess.run(words, in: folder)
    #expect(outcome.status == 0 && outcome.lines.first == words.last?[...])
  }
}
