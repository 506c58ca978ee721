import Foundation
import ProgramSupport
import TestSupport
import Testing

extension Browser {
  /// Starts the demo's command `login` at a server, and opens the sign-in address in this browser.
  ///
  /// The shell command in the option `--browser` writes the address to a file.
  func logInByDemo(
    at server: Glewlwyd, _ client: Glewlwyd.Client, _ options: [String]
  ) async throws -> ChildProcess {
    let folder = try TemporaryFolder()
    let demo = try ChildProcess(
      [
        BuiltProgram.path("sq-demo"), "login", "--issuer", server.issuer, "--client-id",
        client.rawValue, "--redirect-uri", try server.takeRedirectURI(),
        "--browser", #"sh -c 'echo "$0" >"$URL_FILE"'"#,
      ] + options,
      environment: ["SQ_CLIENT_SECRET": client.secret, "URL_FILE": folder.file("url")])
    let url = try await eventually("the demo opens the browser") {
      let text = try? String(contentsOfFile: folder.file("url"), encoding: .utf8)
      if text == nil, !demo.isRunning { return demo.errors }
      return text.flatMap { $0.hasSuffix("\n") ? String($0.dropLast()) : nil }
    }
    try #require(url.hasPrefix(server.authorizationEndpoint), "\(url)")
    try await go(to: url)
    return demo
  }
}
