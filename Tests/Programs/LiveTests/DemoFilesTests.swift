import Foundation
import OAuthSandbox
import ProgramSupport
import TestSupport
import Testing

/// Lists the files of a drive with the demo's command line.
///
/// Alice signs in with a real browser.
@Suite(.requires(.chromium), .timeLimit(.minutes(15)))
struct DemoFilesTests {
  @Test func `the files are listed after alice has allowed access`() async throws {
    try await withFiles { demo, browser in
      try await browser.logInToSandbox(as: .alice)
      try await browser.decide("allow")
      try await browser.reach("You are signed in")
      let result = try await demo.result()
      #expect(result.status == 0, "\(result.errors)")
      #expect(result.output.split(separator: "\n").count == 5)
      #expect(result.output.contains("  Family history.md\n"))
    }
  }

  @Test func `no files are listed after alice has denied access`() async throws {
    try await withFiles { demo, browser in
      try await browser.logInToSandbox(as: .alice)
      try await browser.decide("deny")
      try await browser.reach("You were not signed in")
      let result = try await demo.result()
      #expect(result.status == 3)
      #expect(result.output == "")
      #expect(result.errors.contains("\nerror: access_denied: "))
    }
  }

  /// Starts the command `files` with its built-in sandbox, and opens the sign-in page.
  ///
  /// The shell command in the option `--browser` writes the address to a file.
  private func withFiles(_ test: (ChildProcess, Browser) async throws -> Void) async throws {
    let folder = try TemporaryFolder()
    try await Browser.open { browser in
      let demo = try ChildProcess(
        [
          BuiltProgram.path("sq-demo"), "files", "--sandbox",
          "--browser", #"sh -c 'echo "$0" >"$URL_FILE"'"#,
        ],
        environment: ["URL_FILE": folder.file("url")])
      let url = try await eventually("the demo opens the browser") {
        let text = try? String(contentsOfFile: folder.file("url"), encoding: .utf8)
        if text == nil, !demo.isRunning { return demo.errors }
        return text.flatMap { $0.hasSuffix("\n") ? String($0.dropLast()) : nil }
      }
      try #require(url.hasPrefix("http://127.0.0.1:"), "\(url)")
      try await browser.go(to: url)
      try await browser.reach("Sign in")
      try await test(demo, browser)
    }
  }
}
