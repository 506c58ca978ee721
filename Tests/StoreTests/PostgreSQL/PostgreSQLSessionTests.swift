import Foundation
import OAuthSandbox
import SequencingOAuth
import SequencingOAuthPostgreSQL
import TestSupport
import Testing

/// Sessions on several hosts share an account, at a server that accepts each refresh token once.
@Suite(.requires(.postgreSQL), .timeLimit(.minutes(3))) struct PostgreSQLSessionTests {
  /// An account that was signed in once, and the database in which all hosts have it.
  struct Account {
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

    /// The account's module on a host of its own.
    func host() async throws -> AuthorizationModule {
      var environment = ClientEnvironment()
      environment.userAgent = CustomUserAgent { _ = try await SandboxVisitor().visit($0) }
      let manager = AccountManager(
        store: StoreTests.store(server), environment: environment)
      return try await manager.account(
        ClientConfiguration(
          clientID: "sandbox-app", redirectURI: "http://127.0.0.1/callback",
          provider: .issuer(sandbox.issuer.absoluteString)), id: "a")
    }

    /// Changes the stored record as another host's refresh would.
    func replaceToken() async throws -> SQToken {
      let store = StoreTests.store(server)
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
  }

  private func withAccount(_ body: (Account) async throws -> Void) async throws {
    try await PostgreSQLServer.running { server in
      let account = try await Account(server)
      try await body(account)
      await account.sandbox.stop()
    }
  }

  @Test func `hosts that find the token expired make one refresh between them`() async throws {
    try await withAccount { account in
      for _ in 1...5 {
        let hosts = try await [account.host(), account.host(), account.host(), account.host()]
        try await store(account.server).expire("a")
        let fresh = try await [account.host(), account.host(), account.host(), account.host()]
        let before = account.sandbox.requests(to: .token).count
        let tokens = try await withThrowingTaskGroup(of: String.self) { group in
          for host in fresh { group.addTask { try await host.token().accessToken } }
          return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(tokens.count == 1)
        #expect(account.sandbox.requests(to: .token).count == before + 1)
        withExtendedLifetime(hosts) {}
      }
      #expect(account.sandbox.refreshTokenReuses == 0)
      let stored = try await store(account.server).load("a")
      #expect(stored?.token.refreshToken == account.latestRefreshToken)
    }
  }

  @Test func `a host whose account another one refreshed meanwhile takes that token`()
    async throws
  {
    try await withAccount { account in
      try await store(account.server).expire("a")
      let host = try await account.host()
      let answer = Gate(isOpen: false)
      account.sandbox.misbehave(at: .token, .hold(until: { await answer.opened() }))
      let late = Task { try await host.token() }
      try await answer.isHolding()
      let newer = try await account.replaceToken()
      answer.open()
      #expect(try await late.value == newer)
      #expect(host.currentToken == newer)
      #expect(try await store(account.server).load("a")?.token == newer)
    }
  }

  @Test func `a refresh that ends after a sign-out elsewhere brings nothing back`() async throws {
    try await withAccount { account in
      try await store(account.server).expire("a")
      let host = try await account.host()
      let answer = Gate(isOpen: false)
      account.sandbox.misbehave(at: .token, .hold(until: { await answer.opened() }))
      let late = Task { try await host.token() }
      try await answer.isHolding()
      try await store(account.server).erase("a")
      answer.open()
      let error = await #expect(throws: SQOAuthError.self) { try await late.value }
      #expect(error?.code == .notAuthorized)
      #expect(host.currentToken == nil)
      #expect(try await store(account.server).list() == [])
    }
  }

  /// The server has replaced the refresh token, and the database is gone before it is saved.
  @Test func `a database that restarts in the middle of a refresh loses nothing`() async throws {
    try await withAccount { account in
      try await store(account.server).expire("a")
      let host = try await account.host()
      let answer = Gate(isOpen: false)
      account.sandbox.misbehave(at: .token, .hold(until: { await answer.opened() }))
      let token = Task { try await host.token() }
      try await answer.isHolding()
      account.server.kill()
      answer.open()
      try await account.server.restart()
      let fresh = try await token.value
      #expect(try await store(account.server).load("a")?.token == fresh)
      #expect(account.sandbox.refreshTokenReuses == 0)
    }
  }
}
