import Foundation
import OAuthSandbox
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthBackend
import SequencingOAuthPostgreSQL
import SequencingOAuthSQLite
import TestSupport

/// Accounts at a server that accepts each refresh token once, in a store that several keepers
/// share.
struct KeptAccounts: Sendable {
  enum Store: CaseIterable {
    case sqlite
    case postgreSQL
  }

  let sandbox: SandboxServer
  let configuration: ClientConfiguration
  /// Opens the store as another process would.
  let open: @Sendable () -> any TokenStore

  static func running(
    _ kind: Store, lifetime: Duration = .seconds(3600),
    _ body: (KeptAccounts) async throws -> Void
  ) async throws {
    switch kind {
    case .sqlite:
      let folder = try TemporaryFolder()
      try await with(
        lifetime, { SQLiteTokenStore(path: folder.file("tokens.sqlite"), key: nil) }, body)
    case .postgreSQL:
      try await PostgreSQLServer.running { server in
        try await with(lifetime, { DatabaseTests.store(server) }, body)
      }
    }
  }

  /// Runs `body` with a new server, whose access tokens have the given lifetime, and with the store
  /// that `open` opens.
  static func with(
    _ lifetime: Duration, _ open: @escaping @Sendable () -> any TokenStore,
    _ body: (KeptAccounts) async throws -> Void
  ) async throws {
    var options = SandboxOptions()
    options.accessTokenLifetime = lifetime
    let sandbox = try await SandboxServer.start(options)
    try await body(
      KeptAccounts(
        sandbox: sandbox,
        configuration: try ClientConfiguration(
          clientID: SandboxClient.app.id, redirectURI: "http://127.0.0.1/callback",
          provider: .issuer(sandbox.issuer.absoluteString)),
        open: open))
    await sandbox.stop()
  }

  /// Signs users in, with tokens that expire after `time` seconds.
  func add(
    _ ids: [String], expiringAfter time: Double, issued: Date = Date(), client: String? = nil
  ) async throws {
    let store = open()
    for id in ids {
      let tokens = sandbox.issueTokens()
      try await store.save(
        AccountRecord(
          id: id, clientID: client ?? SandboxClient.app.id,
          issuer: sandbox.issuer.absoluteString, session: id,
          token: SQToken(
            accessToken: tokens.accessToken, expirationDate: Date() + time,
            refreshToken: tokens.refreshToken, issueDate: issued)))
    }
  }

  /// Signs a user in who gets an ID token with each access token.
  func signIn(_ id: String) async throws {
    var environment = ClientEnvironment()
    environment.userAgent = CustomUserAgent { _ = try await SandboxVisitor().visit($0) }
    let module = try await AccountManager(store: open(), environment: environment).account(
      ClientConfiguration(
        clientID: SandboxClient.app.id, redirectURI: "http://127.0.0.1/callback", scope: "openid",
        provider: .issuer(sandbox.issuer.absoluteString)), id: id)
    _ = try await module.signIn()
  }

  /// Starts a keeper on `store` or, if that is `nil`, on a store of its own, as on another host.
  func keeper(
    _ choice: KeepingChoice = .all, atOnce: Int = 8, of store: (any TokenStore)? = nil
  ) -> AccountKeeper {
    let configuration = configuration
    return AccountManager(store: store ?? open()).keepFresh(choice, atOnce: atOnce) { record in
      record.clientID == configuration.clientID ? configuration : nil
    }
  }

  var refreshes: Int { sandbox.requests(to: .token).count }
}
