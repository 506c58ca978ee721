import Foundation
import OAuthSandbox
import ProgramSupport
import SequencingOAuth
import SequencingOAuthPostgreSQL
import TestSupport
import Testing

/// An account at a server that accepts each refresh token once, and the database in which all hosts
/// store the account.
///
/// The account is signed in once, at the start.
struct SharedAccount: Sendable {
  let server: PostgreSQLServer
  let sandbox: SandboxServer

  init(_ server: PostgreSQLServer) async throws {
    self.server = server
    sandbox = try await SandboxServer.start(SandboxOptions())
    _ = try await host().signIn()
  }

  var latestRefreshToken: String? {
    sandbox.latestRefreshToken(for: SandboxUser.alice.name)
  }

  /// Returns the account's module on another host or, with that host's store, in its process.
  func host(in store: PostgreSQLTokenStore? = nil) async throws -> AuthorizationModule {
    var environment = ClientEnvironment()
    // In these tests, a failing database fails until the test repairs it, so retries are useless.
    environment.storeRetryTime = .zero
    environment.userAgent = CustomUserAgent { _ = try await SandboxVisitor().visit($0) }
    let manager = AccountManager(
      store: store ?? DatabaseTests.store(server), environment: environment)
    return try await manager.account(
      ClientConfiguration(
        clientID: "sandbox-app", redirectURI: "http://127.0.0.1/callback",
        provider: .issuer(sandbox.issuer.absoluteString)), id: "a")
  }

  /// Changes the stored record as another host's refresh would.
  func replaceToken() async throws -> SQToken {
    let store = DatabaseTests.store(server)
    let old = try #require(try await store.load("a"))
    let token = SQToken(
      accessToken: "of another host", expirationDate: Date() + 3600, refreshToken: "next",
      issueDate: Date())
    try await store.save(
      AccountRecord(
        id: "a", clientID: old.clientID, issuer: old.issuer, tokenEndpoint: old.tokenEndpoint,
        session: old.session, token: token))
    return token
  }

  /// Runs `body` with a new server, database and account.
  static func running(_ body: (SharedAccount) async throws -> Void) async throws {
    try await PostgreSQLServer.running { server in
      let account = try await SharedAccount(server)
      try await body(account)
      await account.sandbox.stop()
    }
  }

  /// Makes the stored token expire, and starts a refresh.
  ///
  /// The authorization server answers when the returned gate opens.
  func heldRefresh(
    in store: PostgreSQLTokenStore? = nil
  ) async throws -> (host: AuthorizationModule, Task<SQToken, any Error>, Gate) {
    try await DatabaseTests.store(server).expire("a")
    let host = try await host(in: store)
    let answer = Gate(isOpen: false)
    sandbox.misbehave(at: .token, .hold(until: { await answer.opened() }))
    let refresh = Task { try await host.token() }
    try await answer.isHolding()
    return (host, refresh, answer)
  }
}
