import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// A user who is still signed in after the program restarts.
@Suite("End to end: stored tokens", .timeLimit(.minutes(1))) struct KeepTokensTests {
  /// Creates the `SQOAuth` of one run of the program and its recorder of events.
  private func run(
    _ sandbox: SandboxServer, _ store: any TokenStore, registersFirst: Bool = true
  ) throws -> (SQOAuth, RefreshRecorder) {
    let (oauth, recorder) = (SQOAuth(), RefreshRecorder())
    let register = {
      oauth.registerApplicationParameters(
        clientID: "sandbox-app", redirectURI: "http://127.0.0.1/callback", scope: "demo",
        provider: .issuer(sandbox.issuer.absoluteString))
    }
    if registersFirst { register() }
    oauth.tokenRefreshDelegate = recorder
    oauth.environment.userAgent = CustomUserAgent { _ = try await SandboxVisitor().visit($0) }
    oauth.keepTokens(in: store)
    if !registersFirst { register() }
    return (oauth, recorder)
  }

  @Test(arguments: [true, false])
  func `the next run of the program is signed in and refreshes its token`(registersFirst: Bool)
    async throws
  {
    var options = SandboxOptions()
    options.accessTokenLifetime = .seconds(3)
    let sandbox = try await SandboxServer.start(options)
    let folder = try TemporaryFolder()
    let store = EncryptedFileTokenStore(
      path: folder.file("tokens.sealed"), key: .file(folder.file("tokens.key")))
    let (first, _) = try run(sandbox, store)
    #expect(try await !first.restore())
    first.refreshesAutomatically = false
    let token = try await first.signIn()
    try await first.flush()

    let (second, recorder) = try run(sandbox, store, registersFirst: registersFirst)
    try await eventually { second.currentToken != nil }
    // The timer refreshes the token; no call requests a token.
    #expect(await recorder.words(1).first?.hasPrefix("refreshed") == true)
    #expect(second.currentToken != token)
    second.refreshesAutomatically = false
    try await second.flush()
  }

  @Test func `a user who signed in before the app called keepTokens(in:) stays signed in`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let folder = try TemporaryFolder()
    let store = EncryptedFileTokenStore(
      path: folder.file("tokens.sealed"), key: .file(folder.file("tokens.key")))
    let (first, _) = try run(sandbox, MemoryTokenStore())
    try await first.signIn()
    first.keepTokens(in: store)
    let token = try await first.refresh()
    try await first.flush()

    let (second, _) = try run(sandbox, store)
    #expect(try await second.restore())
    #expect(second.currentToken == token)
  }

  @Test func `a store that cannot be read is reported to the refresh delegate`() async throws {
    let sandbox = try await SandboxServer.start()
    let (_, recorder) = try run(
      sandbox, FailingStore(FailingStore.Full(), toLoad: true))
    #expect(await recorder.words(1) == ["failed store_failed"])
  }

  @Test(.ownThreads)
  func `keepTokens(as:) stores the tokens and their key in the user's state folder`() async throws {
    let folder = try TemporaryFolder()
    await #expect(processExitsWith: .success) { [folder = folder.path as String] in
      setenv("XDG_STATE_HOME", folder, 1)
      let sandbox = try await SandboxServer.start()
      let oauth = SQOAuth()
      try oauth.keepTokens(as: "com.example.app")
      oauth.registerApplicationParameters(
        clientID: "sandbox-app", redirectURI: "http://127.0.0.1/callback",
        provider: .issuer(sandbox.issuer.absoluteString))
      oauth.environment.userAgent = CustomUserAgent { _ = try await SandboxVisitor().visit($0) }
      try await oauth.signIn()
    }
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.file("com.example.app"))
    #expect(files.contains("tokens.sealed") && files.contains("tokens.key"))
    #expect(throws: SQOAuthError.self) { try SQOAuth().keepTokens(as: "../elsewhere") }
  }
}
