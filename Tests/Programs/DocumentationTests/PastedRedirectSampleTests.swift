import Foundation
import OAuthSandbox
import ProgramSupport
import TestSupport
import Testing

/// The function in the article "Without a browser" that reads a pasted redirect.
///
/// The test runs the function in a program that prints each line at once, as the article says.
@Suite(
  .timeLimit(.minutes(5)),
  .disabled(if: isSanitized, "the built program is the same without a sanitizer"))
struct PastedRedirectSampleTests {
  @Test func `the article's program continues and ends while its standard input delivers no line`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    // The program's file exists only as long as the builder.
    let builder = try ProgramBuilder()
    let program = try await builder.build(
      "paster", ["main.swift": code(for: sandbox)], ["-swift-version", "6"])
    // Without `stdbuf`, the sample's own lines would arrive only at the end.
    let process = try ChildProcess(["stdbuf", "-oL", program], input: .open)
    let address = try await process.line(after: sandbox.issuer.absoluteString)
    let url = try #require(URL(string: sandbox.issuer.absoluteString + address))
    _ = try await SandboxVisitor().visit(url)
    let result = try await process.result()
    #expect(result.status == 0 && result.output.hasSuffix("\nGoing on.\n"), "\(result.errors)")
    await sandbox.stop()
  }

  /// Returns a program that signs in with the article's function.
  ///
  /// The program then runs the article's statement that prints a line at once. At its end, the
  /// program flushes every stream and waits for each stream in use, as newer C libraries do when a
  /// program ends.
  private func code(for sandbox: SandboxServer) throws -> String {
    let sample = try #require(try Sample.all().first { $0.code.contains("func signInByPasting") })
    let article = try String(
      contentsOf: PackageSources.root.appending(path: sample.document), encoding: .utf8)
    let match = try #require(
      article.firstMatch(of: /`(FileHandle\.standardOutput\.write\([^`]*Going on[^`]*)`/))
    return """
      \(sample.code)
      let oauth = SQOAuth()
      oauth.register(
        try ClientConfiguration(
          clientID: "\(SandboxClient.app.id)", redirectURI: "http://127.0.0.1/callback",
          scope: "profile", provider: .issuer("\(sandbox.issuer.absoluteString)")))
      _ = try await signInByPasting(oauth)
      \(match.1)
      fflush(nil)
      """
  }
}
