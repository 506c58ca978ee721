import Foundation
import OAuthSandbox
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

/// Processes that share an account refresh it only once.
///
/// A process that is killed during the refresh leaves the old record or the new one.
@Suite(.timeLimit(.minutes(5))) struct ManyProcessesTests {
  /// A signed-in account with an expired token, as every process finds it.
  struct SharedAccount {
    let sandbox: SandboxServer
    let folder: TemporaryFolder
    let kind: StoreKind

    /// Whether the tokens are bound to a key of the account.
    let isBound: Bool

    init(_ kind: StoreKind, isBound: Bool = false) async throws {
      self.kind = kind
      self.isBound = isBound
      folder = try TemporaryFolder()
      var options = SandboxOptions()
      if isBound {
        options.dpop = SandboxDPoPOptions(.required)
        options.dpop.noncesRequiredBy = [.authorizationServer]
        options.dpop.bindsAllRefreshTokens = true
      }
      sandbox = try await SandboxServer.start(options)
      try await signIn()
    }

    func signIn() async throws {
      var environment = ClientEnvironment()
      environment.userAgent = CustomUserAgent { _ = try await SandboxVisitor().visit($0) }
      let manager = AccountManager(store: try kind.open(folder), environment: environment)
      var configuration = try ClientConfiguration(
        clientID: "sandbox-app", redirectURI: "http://127.0.0.1/callback",
        provider: .issuer(sandbox.issuer.absoluteString))
      if isBound { configuration.tokenBinding = .dpop() }
      _ = try await manager.account(configuration, id: "a").signIn()
      try await expire()
    }

    func expire() async throws { try await kind.open(folder).expire("a") }

    var tokenRequests: Int { sandbox.requests(to: .token).count }

    func start(until step: String? = nil) throws -> ChildProcess {
      try StoreProbe.start(
        kind, in: folder,
        ["token", sandbox.issuer.absoluteString] + (step.map { [$0] } ?? []))
    }

    func stored() async throws -> AccountRecord? { try await kind.open(folder).load("a") }
  }

  @Test(arguments: StoreKind.shared)
  func `processes that find an expired token make only one refresh`(
    kind: StoreKind
  ) async throws {
    let fixture = try await SharedAccount(kind)
    for round in 1...3 {
      let before = fixture.tokenRequests
      let processes = try (0..<4).map { _ in try fixture.start() }
      var tokens: Set<String> = []
      for process in processes {
        let result = try await process.result()
        #expect(result.status == 0, "round \(round): \(result.errors)")
        tokens.insert(result.output)
      }
      #expect(tokens.count == 1 && fixture.tokenRequests == before + 1)
      #expect(try await fixture.stored()?.token.refreshToken == fixture.sandbox.latestRefreshToken)
      try await fixture.expire()
    }
    #expect(fixture.sandbox.refreshTokenReuses == 0)
  }

  /// Each process begins with the stored nonce, so none has to repeat its request.
  @Test(arguments: StoreKind.shared)
  func `processes share the key to which an account's tokens are bound`(
    kind: StoreKind
  ) async throws {
    let fixture = try await SharedAccount(kind, isBound: true)
    let key = try #require(try await fixture.stored()?.proofKey)
    for round in 1...3 {
      let before = fixture.tokenRequests
      let processes = try (0..<8).map { _ in try fixture.start() }
      var tokens: Set<String> = []
      for process in processes {
        let result = try await process.result()
        #expect(result.status == 0, "round \(round): \(result.errors)")
        tokens.insert(result.output)
      }
      #expect(tokens.count == 1 && fixture.tokenRequests == before + 1)
      #expect(try await fixture.stored()?.proofKey == key)
      try await fixture.expire()
    }
    #expect(fixture.sandbox.refreshTokenReuses == 0)
    let proofs = fixture.sandbox.requests(to: .token).compactMap(\.proof)
    #expect(proofs.allSatisfy { $0.keyThumbprint == key.thumbprint })
  }

  /// Steps at which a kill loses nothing: before the request, or when its answer is stored.
  @Test(arguments: StoreKind.shared)
  func `a process that is killed before or after a refresh request loses no token`(
    kind: StoreKind
  ) async throws {
    let fixture = try await SharedAccount(kind)
    for (step, requests) in [
      ("load 1", 0), ("loaded 1", 0), ("lease 1", 0), ("leased 1", 0), ("load 2", 0),
      ("loaded 2", 0), ("reserve 1", 0), ("reserved 1", 0), ("saved 1", 1), ("give back 1", 1),
      ("given back 1", 1), ("release 1", 1), ("released 1", 1),
    ] {
      let before = fixture.tokenRequests
      let killed = try await fixture.start(until: step).result()
      #expect(killed.status == 128 + SIGKILL, "\(step): \(killed.output)\(killed.errors)")
      #expect(fixture.tokenRequests == before + requests, "\(step)")
      let result = try await fixture.start().result()
      #expect(result.status == 0, "\(step): \(result.errors)")
      #expect(fixture.tokenRequests == before + 1, "\(step)")
      #expect(try await fixture.stored()?.token.refreshToken == fixture.sandbox.latestRefreshToken)
      try await fixture.expire()
    }
    #expect(fixture.sandbox.refreshTokenReuses == 0)
  }

  /// Once the answer is in the write-ahead copy it is safe, and the next process finds it.
  @Test(arguments: StoreKind.landing, ["landed 1", "save 1"])
  func `a process killed between its write-ahead copy and its save loses no token`(
    kind: StoreKind, step: String
  ) async throws {
    let fixture = try await SharedAccount(kind)
    let killed = try await fixture.start(until: step).result()
    #expect(killed.status == 128 + SIGKILL, "\(killed.output)\(killed.errors)")
    let before = fixture.tokenRequests
    let result = try await fixture.start().result()
    #expect(result.status == 0 && fixture.tokenRequests == before, "\(result.errors)")
    #expect(try await fixture.stored()?.token.refreshToken == fixture.sandbox.latestRefreshToken)
    try await fixture.expire()
    #expect(try await fixture.start().result().status == 0)
    #expect(fixture.sandbox.refreshTokenReuses == 0)
    #expect(!(try fixture.folder.contents().contains { $0.contains(".landing") }))
  }

  /// The probe runs a short program, as an app's author would write it.
  @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
  func `after a signal, the program waits for the refresh and ends with the signal's status`(
    signal: Int32
  ) async throws {
    let fixture = try await SharedAccount(.file)
    let before = fixture.tokenRequests
    let old = fixture.sandbox.latestRefreshToken
    let answer = Gate(isOpen: false)
    fixture.sandbox.misbehave(
      at: .token, .hold(until: { await answer.opened() }, then: .drip(1, every: .milliseconds(1))))
    let probe = try StoreProbe.start(
      fixture.kind, in: fixture.folder,
      ["token-despite-signals", fixture.sandbox.issuer.absoluteString])
    try await answer.isHolding()
    probe.signal(signal)
    answer.open()
    let result = try await probe.result()
    #expect(result.status == 128 + signal, "\(result.output)\(result.errors)")
    #expect(!result.output.contains("unkept"))
    #expect(fixture.sandbox.latestRefreshToken != old)
    #expect(try await fixture.stored()?.token.refreshToken == fixture.sandbox.latestRefreshToken)
    #expect(fixture.tokenRequests == before + 1)
  }

  /// Linux does not end process 1 by a signal.
  @Test(.requires("the right to mount a file system", SmallDisk.isAllowed))
  func `after SIGTERM, process 1 of a container waits for the refresh and ends with status 143`()
    async throws
  {
    let fixture = try await SharedAccount(.file)
    let answer = Gate(isOpen: false)
    fixture.sandbox.misbehave(at: .token, .hold(until: { await answer.opened() }))
    let container = try ChildProcess(
      SmallDisk.unshare + ["--pid", "--fork", "--kill-child", "--mount-proc"] + [
        StoreProbe.executable, fixture.kind.address?(fixture.folder) ?? "",
        "token-despite-signals", fixture.sandbox.issuer.absoluteString,
      ])
    try await answer.isHolding()
    container.signal(SIGTERM)
    answer.open()
    let result = try await container.result()
    #expect(result.status == 128 + SIGTERM, "\(result.output)\(result.errors)")
    #expect(try await fixture.stored()?.token.refreshToken == fixture.sandbox.latestRefreshToken)
  }

  @Test func `a second signal ends a program whose handler does not return`() async throws {
    let probe = try StoreProbe.start(.file, in: TemporaryFolder(), ["blocked-by-signal"])
    _ = try await probe.line(after: "listening")
    probe.signal(SIGINT)
    _ = try await probe.line(after: "handled")
    // A signal counts as a second signal only half a second after the first.
    let sender = Task {
      while !Task.isCancelled {
        probe.signal(SIGINT)
        try await Task.sleep(for: .milliseconds(20))
      }
    }
    defer { sender.cancel() }
    #expect(try await probe.result().status == 128 + SIGINT)
  }

  /// Between the server's answer and its first write to disk, only the process has the new token.
  ///
  /// A keyring has no file for that first write, so there the time lasts until the save. If the
  /// process is killed in that time, the session is lost: the user must sign in again.
  @Test(arguments: StoreKind.shared)
  func `a process killed with an unsaved token response loses the session`(
    kind: StoreKind
  ) async throws {
    let fixture = try await SharedAccount(kind)
    let killed = try await fixture.start(until: "land 1").result()
    #expect(killed.status == 128 + SIGKILL, "\(killed.output)\(killed.errors)")
    let result = try await fixture.start().result()
    #expect(result.status == 1 && result.code == .invalidGrant, "\(result.output)")
    #expect(try await fixture.stored() == nil)
    try await fixture.signIn()
    #expect(try await fixture.start().result().status == 0)
  }
}
