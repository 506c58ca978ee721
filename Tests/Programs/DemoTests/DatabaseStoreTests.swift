import Foundation
import OAuthSandbox
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthPostgreSQL
import TestSupport
import Testing

/// A database as the demo's store, shared by several home folders.
@Suite(.requires(.postgreSQL), .timeLimit(.minutes(3))) struct DatabaseStoreTests {
  private let home: TemporaryFolder
  private let otherHome: TemporaryFolder
  private static let passphrase = "open sesame"

  init() throws {
    home = try TemporaryFolder()
    otherHome = try TemporaryFolder()
  }

  private func address(_ server: PostgreSQLServer) -> String { server.connection(password: nil) }

  private var environment: [String: String] {
    ["PGPASSWORD": PostgreSQLServer.password, "SQ_STORE_PASSPHRASE": Self.passphrase]
  }

  private func run(
    _ words: [String], _ server: PostgreSQLServer, in home: TemporaryFolder? = nil,
    changing changes: [String: String] = [:]
  ) async throws -> DemoProcess.Outcome {
    try await DemoProcess.run(
      words + ["--store", address(server)], in: home ?? self.home,
      environment: environment.merging(changes) { $1 })
  }

  private func start(
    _ words: [String], _ server: PostgreSQLServer, in home: TemporaryFolder
  ) throws -> DemoProcess {
    try DemoProcess(
      words + ["--store", address(server)], in: home, environment: environment)
  }

  private func store(_ server: PostgreSQLServer) -> PostgreSQLTokenStore {
    PostgreSQLTokenStore(connection: server.connection, key: .passphrase(Self.passphrase))
  }

  @Test func `an account in a shared database is available in a second home folder`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    try await PostgreSQLServer.running { server in
      try await store(server).keepExpiredAccount(at: sandbox)
      let token = try await run(["token"], server)
      #expect(token.status == 0, "\(token.errors)")
      let other = try await run(["token"], server, in: otherHome)
      #expect(other.output == token.output)
      #expect(sandbox.requests(to: .token).count == 1)

      let list = try await run(["accounts"], server, in: otherHome)
      #expect(list.output.contains("default"))
      #expect(list.errors.contains("Looked in the database \(address(server))."))

      #expect(try await run(["logout"], server).status == 0)
      let gone = try await run(["token"], server, in: otherHome)
      #expect(gone.status == 1 && gone.output.isEmpty)
    }
    await sandbox.stop()
  }

  @Test func `other hosts have been told of a logout when the command ends`() async throws {
    let sandbox = try await SandboxServer.start()
    try await PostgreSQLServer.running { server in
      let (host, other) = (store(server), store(server))
      let notices = Locked<[String: Int]>([:])
      @Sendable func count(_ id: String) -> Int { notices.withLock { $0[id] ?? 0 } }
      let observations = ["default", "last"].map { id in
        host.observe(id) { notices.withLock { $0[id, default: 0] += 1 } }
      }
      try await other.keepExpiredAccount(at: sandbox)
      _ = try await host.load("default")
      try await other.keepExpiredAccount(at: sandbox)
      try await eventually("the host hears of a change") { count("default") > 0 }
      _ = try await host.load("default")
      func isTold() async throws {
        let before = count("last")
        try await other.keepExpiredAccount("last", at: sandbox)
        try await eventually("the last notice arrives") { count("last") > before }
      }
      try await isTold()
      let before = count("default")
      let logout = try await run(["logout"], server)
      #expect(logout.output == "Signed out.\n", "\(logout.errors)")
      // Notices arrive in order, so that of the logout has arrived before the last one.
      try await isTold()
      #expect(count("default") > before)
      for observation in observations { observation?.end() }
    }
    await sandbox.stop()
  }

  @Test func `two watch commands with different home folders never reuse a refresh token`()
    async throws
  {
    var options = SandboxOptions()
    options.accessTokenLifetime = .seconds(3)
    let sandbox = try await SandboxServer.start(options)
    try await PostgreSQLServer.running { server in
      try await store(server).keepExpiredAccount(at: sandbox)
      let demos = try [home, otherHome].map { try start(["watch"], server, in: $0) }
      try await eventually("each command prints four refreshes", within: .seconds(90)) {
        demos.allSatisfy { $0.output.split(separator: "\n").count >= 4 }
      }
      for demo in demos { demo.send(SIGINT) }
      for demo in demos {
        let outcome = await demo.outcome()
        #expect(outcome.status == 0 && !outcome.errors.contains("warning"), "\(outcome.errors)")
        #expect(outcome.lines.count <= sandbox.requests(to: .token).count)
      }
      #expect(sandbox.refreshTokenReuses == 0)
    }
    await sandbox.stop()
  }

  /// Each program acts as a separate host and ends as soon as it has its token.
  @Test func `hosts that ask for a token at the same time make one refresh and leave no lease`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    try await PostgreSQLServer.running { server in
      for round in 1...3 {
        try await store(server).keepExpiredAccount("round \(round)", at: sandbox)
        let before = sandbox.requests(to: .token).count
        let homes = try (1...8).map { _ in try TemporaryFolder() }
        let words = ["token", "--account", "round \(round)"]
        let demos = try homes.map { try start(words, server, in: $0) }
        var outputs: Set<String> = []
        for demo in demos {
          let outcome = await demo.outcome()
          #expect(outcome.status == 0, "\(outcome.errors)")
          outputs.insert(outcome.output)
        }
        #expect(outputs.count == 1 && sandbox.requests(to: .token).count == before + 1)
        #expect(try await server.run("SELECT count(*) FROM sequencing_oauth.leases") == "0")
      }
    }
    await sandbox.stop()
  }

  /// The killed host holds the account's lease: it was killed after it sent the refresh token.
  @Test func `a sign-in does not wait for the lease of a killed host`() async throws {
    let sandbox = try await SandboxServer.start()
    try await PostgreSQLServer.running { server in
      try await store(server).keepExpiredAccount(at: sandbox)
      try await server.run(
        """
        INSERT INTO sequencing_oauth.leases SELECT 'default'::bytea, 't', 'killed',
          'infinity', true, left(pg_walfile_name(pg_current_wal_lsn()), 8)
        """)
      let outcome = try await run(
        [
          "login", "--browser", "sandbox", "--issuer", sandbox.issuer.absoluteString,
          "--client-id", "sandbox-app",
        ], server)
      #expect(outcome.status == 0, "\(outcome.errors)")
      let token = try await run(["token"], server)
      #expect(token.status == 0 && sandbox.refreshTokenReuses == 0, "\(token.errors)")
    }
    await sandbox.stop()
  }

  @Test func `two watch --all commands refresh each account of the database once`() async throws {
    let sandbox = try await SandboxServer.start()
    try await PostgreSQLServer.running { server in
      for id in ["one", "two", "three"] {
        try await store(server).keepExpiredAccount(id, at: sandbox)
      }
      let demos = try [home, otherHome].map { try start(["watch", "--all"], server, in: $0) }
      try await eventually("three refreshes are printed") {
        demos.map { $0.output.split(separator: "\n").count }.reduce(0, +) == 3
      }
      for demo in demos { demo.send(SIGTERM) }
      for demo in demos {
        let outcome = await demo.outcome()
        #expect(outcome.status == 0 && outcome.errors.contains("failed 0, ended 0."))
      }
      #expect(sandbox.requests(to: .token).count == 3)
    }
    await sandbox.stop()
  }

  @Test func `an error says whether the password, the passphrase or the database is at fault`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    try await PostgreSQLServer.running { server in
      try await store(server).keepExpiredAccount(at: sandbox)
      for (changes, words) in [
        (["PGPASSWORD": "wrong one"], "password"), (["SQ_STORE_PASSPHRASE": "other"], "passphrase"),
      ] {
        for command in [["token"], ["accounts"], ["watch"], ["watch", "--all"]] {
          let outcome = try await run(command, server, changing: changes)
          #expect(outcome.status != 0 && outcome.output.isEmpty)
          #expect(outcome.firstError.hasPrefix("error:") && outcome.errors.contains(words))
          for secret in ["wrong one", Self.passphrase, PostgreSQLServer.password] {
            #expect(!outcome.errors.contains(secret))
          }
        }
      }
      await server.stop()
      let outcome = try await run(["token"], server)
      #expect(outcome.status != 0 && outcome.firstError.hasPrefix("error:"))
      #expect(try await run(["token"], server).errors.contains("token database"))
    }
    await sandbox.stop()
  }

  @Test func `the passphrase of a database is asked for twice if it is new, and once later`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    try await PostgreSQLServer.running { server in
      let terminal = try PseudoTerminal()
      func start(_ words: [String], in home: TemporaryFolder) throws -> DemoProcess {
        try DemoProcess(
          words + ["--store", address(server)], in: home,
          environment: ["PGPASSWORD": PostgreSQLServer.password], input: terminal.handle,
          output: terminal.handle)
      }
      func answer(_ question: String) async throws {
        try await eventually("the terminal asks: \(question)") {
          terminal.everything.contains(question)
        }
        try terminal.press(Self.passphrase + "\n")
      }
      let login = try start(
        [
          "login", "--browser", "sandbox", "--issuer", sandbox.issuer.absoluteString,
          "--client-id", "sandbox-app",
        ], in: home)
      try await answer("Passphrase: ")
      try await answer("Once more: ")
      #expect(await login.outcome().status == 0, "\(terminal.everything)")
      #expect(try await store(server).list() == ["default"])
      let token = try start(["token"], in: otherHome)
      try await answer("Passphrase of the database: ")
      #expect(await token.outcome().status == 0, "\(terminal.everything)")
      #expect(terminal.everything.components(separatedBy: "Once more: ").count == 2)
    }
    await sandbox.stop()
  }

  @Test func `without a terminal, no key file is made for a database that has a passphrase`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    try await PostgreSQLServer.running { server in
      // Nothing asks for the passphrase of a new database here, so its key is in a file.
      let new = try await DemoProcess.run(
        ["accounts", "--store", address(server)], in: otherHome,
        environment: ["PGPASSWORD": PostgreSQLServer.password])
      #expect(otherHome.exists("state/sq-demo/database.key"), "\(new.errors)")
      try await server.run("DROP SCHEMA sequencing_oauth CASCADE")
      try await store(server).keepExpiredAccount(at: sandbox)
      let outcome = try await DemoProcess.run(
        ["token", "--store", address(server)], in: home,
        environment: ["PGPASSWORD": PostgreSQLServer.password])
      #expect(outcome.status == 1, "\(outcome.errors)")
      #expect(outcome.firstError.hasPrefix("error: passphrase_needed: "), "\(outcome.errors)")
      #expect(!home.exists("state/sq-demo/database.key"))
      #expect(sandbox.requests(to: .token).isEmpty)
    }
    await sandbox.stop()
  }

  @Test(arguments: [
    "postgresql://app:secret@host/db", "postgres://host/db?password=secret",
    "postgresql://host/db?x=y&PASSWORD=secret",
  ])
  func `a password in the store's address is rejected`(address: String) async throws {
    let outcome = try await DemoProcess.run(["accounts", "--store", address], in: home)
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("~/.pgpass") && !outcome.errors.contains("secret"))
  }
}
