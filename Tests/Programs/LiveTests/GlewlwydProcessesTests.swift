import Foundation
import ProgramSupport
import SequencingOAuth
import TestSupport
import Testing

/// Processes that share one account at an independent server and are killed at random.
@Suite(.requires(.glewlwyd)) struct GlewlwydProcessesTests {
  private static let size = 8
  private static let rounds = 100

  @Test(.timeLimit(.minutes(30)))
  func `random kills during a hundred refreshes lose only sessions with an unsaved response`()
    async throws
  {
    try await Glewlwyd.running(
      accessTTL: .seconds(3600), settings: ["ROTATE": "always"]
    ) { server in
      let account = try SharedAccount(at: server)
      try await account.signIn()
      var (kills, losses) = (0, 0)
      var wasKilling = false
      for round in 1...Self.rounds {
        try await account.expire()
        let isKilling = round.isMultiple(of: 2)
        let results = try await account.tokens(Self.size, killsOne: isKilling)
        let killed = results.count { $0.status == 128 + SIGKILL }
        #expect(killed <= (isKilling ? 1 : 0))
        kills += killed
        // The server may still get the request of a killed process in the next round.
        let mayLose = killed == 1 || wasKilling
        wasKilling = killed == 1
        let survivors = results.filter { $0.status != 128 + SIGKILL }
        let tokens = Set(survivors.filter { $0.status == 0 }.map(\.output))
        if tokens.count == 1, survivors.allSatisfy({ $0.status == 0 }) { continue }
        // Only a kill between the server's answer and the write may lose the session.
        let errors = survivors.map(\.errors).filter { !$0.isEmpty }
        #expect(mayLose && tokens.isEmpty, "round \(round): \(tokens.count), \(errors)")
        // This server rejects a used refresh token with an empty body.
        #expect(errors.contains { $0.contains("request_refused") }, "round \(round): \(errors)")
        losses += 1
        try await account.signIn()
      }
      print("\(Self.rounds) expiries, \(kills) kills, \(losses) sessions lost")
      #expect(kills > 0, "no kill hit a running process")
      try await account.newestRefreshTokenWorks(at: server)
    }
  }
}

/// An account of alice at glewlwyd, in a file that several demo processes share.
private struct SharedAccount {
  private let server: Glewlwyd
  private let folder: TemporaryFolder
  private let store: FileTokenStore
  private let redirectURI: String

  init(at server: Glewlwyd) throws {
    self.server = server
    folder = try TemporaryFolder()
    store = FileTokenStore(path: folder.file("tokens"))
    redirectURI = try server.takeRedirectURI()
  }

  private func module() throws -> AuthorizationModule {
    var environment = ClientEnvironment()
    environment.tokenStore = store
    environment.userAgent = CustomUserAgent { [server] url in
      try await server.visit(url, as: .alice, granting: ["read", "write"], to: .public)
    }
    return AuthorizationModule(
      configuration: try ClientConfiguration(
        clientID: Glewlwyd.Client.public.rawValue, redirectURI: redirectURI,
        scope: "read write", provider: .issuer(server.issuer)),
      environment: environment)
  }

  func signIn() async throws {
    try await module().signIn()
  }

  func expire() async throws { try await store.expire("default") }

  /// Returns the results of `count` simultaneous `sq-demo token` processes, one of which may be
  /// killed.
  func tokens(_ count: Int, killsOne: Bool) async throws -> [ChildProcess.Result] {
    let processes = try (0..<count).map { _ in try start() }
    if killsOne {
      // The kill may hit any step of the process.
      try await Task.sleep(for: .milliseconds(.random(in: 0...250)))
      processes.randomElement()?.signal(SIGKILL)
    }
    var results: [ChildProcess.Result] = []
    for process in processes { results.append(try await process.result()) }
    return results
  }

  private func start() throws -> ChildProcess {
    // The browser command fails, so that no process signs in again if the account is gone.
    try ChildProcess([
      BuiltProgram.path("sq-demo"), "token",
      "--issuer", server.issuer, "--client-id", Glewlwyd.Client.public.rawValue,
      "--scope", "read write", "--redirect-uri", redirectURI,
      "--store", "file:" + folder.file("tokens"), "--browser", "false",
    ])
  }

  /// Checks that the stored refresh token is the newest one.
  func newestRefreshTokenWorks(at server: Glewlwyd) async throws {
    let module = try module()
    let token = try await module.refresh()
    #expect(try await store.load("default")?.token == token)
    #expect(try await server.introspect(token.accessToken).active)
  }
}
