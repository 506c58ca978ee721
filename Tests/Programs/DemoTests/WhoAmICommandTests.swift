import Foundation
import LoopbackSupport
import OAuthSandbox
import TestSupport
import Testing

@testable import sq_demo

/// The user's identity at login, in `whoami`, and after `logout --everywhere`.
@Suite(.timeLimit(.minutes(1))) struct WhoAmICommandTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private var kept: [String] { ["--store", "file:" + folder.file("tokens")] }

  private func run(_ words: [String]) async throws -> DemoProcess.Outcome {
    try await DemoProcess.run(words + kept, in: folder)
  }

  private func provider(_ sandbox: SandboxServer) -> [String] {
    [
      "--issuer", sandbox.issuer.absoluteString, "--client-id", "sandbox-app", "--browser",
      "sandbox",
    ]
  }

  @Test
  func `login greets the user, and whoami shows the user, also if the provider is unreachable`()
    async throws
  {
    // No other server gets the port after the provider has stopped.
    let reservation = try BoundSocket()
    var options = SandboxOptions()
    options.port = reservation.port
    let sandbox = try await SandboxServer.start(options)
    let login = try await run(["login"] + provider(sandbox))
    #expect(login.status == 0, "\(login.errors)")
    #expect(login.lines.prefix(2) == ["Hello, Alice Liddell.", "Signed in."])
    #expect(
      sandbox.requests(to: .authorization).first?.query("scope") == "openid profile email")

    let who = try await run(["whoami"])
    #expect(who.status == 0, "\(who.errors)")
    #expect(who.lines.first == "Alice Liddell")
    #expect(who.output.contains("\n  e-mail   alice@"))
    #expect(who.output.contains("\n  issuer   \(sandbox.issuer.absoluteString)"))

    let json = try await run(["whoami", "--json"])
    let report = try #require(
      JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
    #expect(report["name"] as? String == "Alice Liddell")
    #expect(report["account"] as? String == "default")
    let claims = try #require(report["claims"] as? [String: Any])
    #expect(claims["sub"] as? String == report["subject"] as? String)
    #expect(claims["email_verified"] is Bool)

    // Without the provider, the stored ID token identifies the user.
    await sandbox.stop()
    let offline = try await run(["whoami", "--json"])
    #expect(offline.status == 0)
    #expect(offline.errors.contains("warning: UserInfo could not be read from the provider: "))
    #expect(offline.output.contains(try #require(report["subject"] as? String)))
    withExtendedLifetime(reservation) {}
  }

  @Test func `whoami says how to get an identity for an account without an identity`() async throws
  {
    let sandbox = try await SandboxServer.start()
    #expect(try await run(["login", "--scope", "profile"] + provider(sandbox)).status == 0)
    let who = try await run(["whoami"])
    #expect(who.status == 1 && who.output.isEmpty)
    #expect(
      who.firstError.hasPrefix("error: no_identity: the provider did not say who the user is"))
    #expect(who.firstError.contains("add \"openid\""))
    #expect(who.errors.contains("sq-demo login"))
    await sandbox.stop()
  }

  @Test func `with manual endpoints, whoami shows a user only if login got --issuer and --jwks`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let login = [
      "login", "--authorize", sandbox.authorizationEndpoint.absoluteString, "--token",
      sandbox.tokenEndpoint.absoluteString, "--client-id", "sandbox-app", "--browser", "sandbox",
    ]
    let unknown = try await run(login + ["--scope", "openid profile"])
    #expect(unknown.status == 0 && unknown.lines.first == "Signed in.", "\(unknown.errors)")
    let who = try await run(["whoami"])
    #expect(who.status == 1 && who.firstError.hasPrefix("error: no_identity: "))
    #expect(who.errors.contains("--issuer and --jwks"))

    let known = try await run(
      login + [
        "--issuer", sandbox.issuer.absoluteString, "--jwks", sandbox.url(.keys).absoluteString,
        "--userinfo", sandbox.url(.userInfo).absoluteString,
      ])
    #expect(known.lines.first == "Hello, Alice Liddell.", "\(known.errors)")
    #expect(try await run(["whoami"]).lines.first == "Alice Liddell")
    await sandbox.stop()
  }

  @Test func `after a login at a second server, whoami shows the user's identity at that server`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let other = try await SandboxServer.start()
    #expect(try await run(["login"] + provider(sandbox)).status == 0)
    let login = try await run(["login"] + provider(other))
    #expect(login.lines.first == "Hello, Alice Liddell.", "\(login.errors)")
    #expect(try await run(["whoami"]).output.contains(other.issuer.absoluteString))
    await sandbox.stop()
    await other.stop()
  }

  @Test func `logout --everywhere revokes the tokens and ends the session at the provider`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    #expect(try await run(["login"] + provider(sandbox)).status == 0)
    let logout = try await run(["logout", "--everywhere", "--browser", "sandbox"])
    #expect(logout.status == 0, "\(logout.errors)")
    #expect(logout.lines == ["Signed out here and at the provider."])
    #expect(sandbox.requests(to: .revocation).count == 2, "both tokens are revoked")
    let request = try #require(sandbox.requests(to: .endSession).first)
    #expect(request.query("id_token_hint") != nil && request.query("client_id") == "sandbox-app")
    let who = try await run(["whoami"])
    #expect(who.status == 1 && who.firstError.hasPrefix("error: no_account: "))
    await sandbox.stop()
  }

  @Test func `a provider logout that needs a browser is reported as shown or opened, not as done`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    #expect(try await run(["login"] + provider(sandbox)).status == 0)
    let logout = try await run(["logout", "--everywhere", "--browser", "print"])
    #expect(logout.status == 0, "\(logout.errors)")
    #expect(logout.output.contains(sandbox.url(.endSession).absoluteString))
    #expect(logout.lines.last == Substring(LogoutReach.shown.sentence))
    #expect(!logout.errors.contains("Waiting"), "\(logout.errors)")

    #expect(try await run(["login"] + provider(sandbox)).status == 0)
    let opened = try await run(["logout", "--everywhere", "--browser", "true", "--json"])
    #expect(opened.status == 0, "\(opened.errors)")
    #expect(
      opened.lines == [#"{"account":"default","forgotten":true,"provider_logout":"opened"}"#])
    #expect(sandbox.requests(to: .endSession).isEmpty)
    await sandbox.stop()
  }

  @Test func `whoami reports a session that the server has ended`() async throws {
    let sandbox = try await SandboxServer.start()
    #expect(try await run(["login"] + provider(sandbox)).status == 0)
    sandbox.revokeEverything()
    let who = try await run(["whoami"])
    #expect(who.status == 1 && who.output.isEmpty)
    #expect(who.firstError.hasPrefix("error: invalid_grant: "))
    #expect(who.errors.contains("sq-demo login"))
    let logout = try await run(["logout", "--everywhere"])
    #expect(
      logout.lines == ["The account \"default\" was signed out before; now it is forgotten."])
    await sandbox.stop()
  }

  @Test func `a logout whose revocation fails says that the account is forgotten on this machine`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    #expect(try await run(["login"] + provider(sandbox)).status == 0)
    sandbox.misbehave(at: .revocation, .status(401), times: 2)
    let logout = try await run(["logout", "--everywhere", "--browser", "sandbox"])
    #expect(logout.status == 1 && logout.output.isEmpty)
    #expect(logout.errors.contains("the revocation endpoint refused the client with status 401"))
    #expect(logout.errors.contains("The account is forgotten on this machine nevertheless."))
    #expect(sandbox.requests(to: .endSession).count == 1)
    #expect(try await run(["whoami"]).firstError.hasPrefix("error: no_account: "))
    await sandbox.stop()
  }

  /// After 5 s, the page would count as open.
  @Test func `an interrupted logout forgets the account and its client nevertheless`() async throws
  {
    let sandbox = try await SandboxServer.start()
    #expect(try await run(["login"] + provider(sandbox)).status == 0)
    let seen = folder.file("seen")
    let script = "echo end >\(seen); while [ -e \(seen) ]; do sleep 0.05; done"
    let logout = try await DemoProcess.interrupted(
      ["logout", "--everywhere", "--browser", "sh -c '\(script)'"] + kept, in: folder)
    try FileManager.default.removeItem(atPath: seen)
    #expect(logout.status == 3 && logout.output.isEmpty, "\(logout.errors)")
    #expect(logout.errors.contains("The account is forgotten on this machine nevertheless."))
    #expect(try await run(["whoami"]).firstError.hasPrefix("error: no_account: "))
    await sandbox.stop()
  }
}
