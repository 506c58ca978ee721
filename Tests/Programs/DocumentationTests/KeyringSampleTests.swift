import Foundation
import OAuthSandbox
import ProgramSupport
import SequencingOAuthSecretService
import TestSupport
import Testing

/// The program in the article "Accounts and stores" that stores its token in the desktop's keyring,
/// run twice.
@Suite(.timeLimit(.minutes(5)), .requires(.keyring)) struct KeyringSampleTests {
  @Test func `the article's program restores its sign-in from the keyring without a browser`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let desktop = try await PrivateDesktop(keyring: true)
    // The program's file exists only as long as the builder.
    let builder = try ProgramBuilder(with: [.keyring])
    let program = try await builder.build(
      "notes", ["main.swift": code(for: sandbox)], ["-swift-version", "6"])
    let first = try start(program, on: desktop, browser: "echo")
    try await first.signIn(at: sandbox)
    #expect(try await first.result().output == "Signed in.\n")

    let second = try await start(program, on: desktop, browser: "false").result()
    #expect(second.output == "Signed in.\n", "\(second.errors)")
    #expect(sandbox.requests(to: .authorization).count == 1)
    let state = try #require(desktop.environment["XDG_STATE_HOME"] ?? nil)
    let store = DesktopTokenStore(
      service: Self.service, folder: "\(state)/\(Self.service)", bus: desktop.address,
      hasDisplay: false)
    #expect(try await store.place == .keyring)
    #expect(try await store.list() == ["default"])
    await desktop.stop()
    await sandbox.stop()
  }

  private static let service = "com.example.notes"

  /// Returns the article's program, changed only in its server, client and scope.
  private func code(for sandbox: SandboxServer) throws -> String {
    let sample = try #require(
      try Sample.all().first {
        $0.document.hasSuffix("/AccountsAndStores.md") && $0.code.contains("keepTokens(in:")
      })
    #expect(sample.code.contains("DesktopTokenStore(service: \"\(Self.service)\")"))
    return sample.code
      .replacing("https://id.example.com", with: sandbox.issuer.absoluteString)
      .replacing("your client", with: SandboxClient.app.id)
      .replacing("scope: \"notes\"", with: "scope: \"profile\"")
  }

  private func start(
    _ program: String, on desktop: PrivateDesktop, browser: String
  ) throws -> ChildProcess {
    try ChildProcess(
      [program], environment: desktop.environment.merging(["BROWSER": browser]) { $1 })
  }
}
