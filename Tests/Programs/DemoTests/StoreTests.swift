import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

/// The program with each store, as users run it: processes one after another, or many at once.
@Suite(.timeLimit(.minutes(2))) struct `A stored account` {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func run(_ arguments: [String], _ store: DemoStore) async throws -> DemoProcess.Outcome {
    try await DemoProcess.run(
      arguments + store.options(folder), in: folder, environment: store.environment)
  }

  /// Returns the content of the store's file once its write-ahead log is empty or absent.
  private func content(of store: DemoStore) async throws -> Data {
    try await eventually("the store is at rest") {
      let log = try? Data(contentsOf: URL(filePath: store.path(folder) + "-wal"))
      guard log?.isEmpty ?? true else { return nil }
      return try Data(contentsOf: URL(filePath: store.path(folder)))
    }
  }

  private func login(_ sandbox: SandboxServer) -> [String] {
    [
      "login", "--browser", "sandbox", "--issuer", sandbox.issuer.absoluteString, "--client-id",
      "sandbox-app",
    ]
  }

  @Test(arguments: DemoStore.all)
  func `a stored account is available in the next run until it is signed out`(store: DemoStore)
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let login = try await run(login(sandbox), store)
    #expect(login.status == 0, "\(login.errors)")
    #expect(login.output.contains("\n  kept in  the "))
    let mode = try FileManager.default.attributesOfItem(atPath: store.path(folder))
    #expect(mode[.posixPermissions] as? Int == 0o600)
    #expect(folder.exists("deep/tokens.key") == (store.isSealed && store.passphrase == nil))
    let kept = try #require(try await store.open(store.path(folder)).load("default"))

    let token = try await run(["token"], store)
    #expect(token.status == 0, "\(token.errors)")
    #expect(token.output == kept.token.accessToken + "\n")
    #expect(token.errors.isEmpty)
    #expect(sandbox.requests(to: .token).count == 1)

    #expect(try await run(["logout"], store).output == "Signed out.\n")
    #expect(try await run(["logout"], store).output == "Nobody is signed in.\n")
    #expect(try await store.open(store.path(folder)).list().isEmpty)
    await sandbox.stop()
  }

  @Test(arguments: DemoStore.all)
  func `a stored account is refreshed once for eight simultaneous programs`(store: DemoStore)
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let kept = store.open(store.path(folder))
    let old = try await kept.keepExpiredAccount(at: sandbox)
    let folder = folder
    let programs = try (0..<8).map { _ in
      try DemoProcess(
        ["token"] + store.options(folder), in: TemporaryFolder(), home: folder,
        environment: store.environment)
    }
    var printed: Set<String> = []
    for program in programs {
      let outcome = await program.outcome()
      #expect(outcome.status == 0, "\(outcome.errors)")
      printed.insert(outcome.output)
    }
    #expect(sandbox.requests(to: .token).count == 1)
    #expect(sandbox.refreshTokenReuses == 0)
    let record = try #require(try await kept.load("default"))
    #expect(printed == [record.token.accessToken + "\n"])
    #expect(
      record.token.refreshToken == sandbox.latestRefreshToken(inFamilyOf: old.refreshToken))
    await sandbox.stop()
  }

  @Test(arguments: DemoStore.sealed)
  func `a stored account is not opened with another passphrase, and the store is unchanged`(
    store: DemoStore
  ) async throws {
    let sandbox = try await SandboxServer.start()
    try await store.open(store.path(folder)).keepExpiredAccount(at: sandbox)
    let before = try await content(of: store)
    try folder.write("wrong\n", to: "passphrase")
    for command in [["token"], ["accounts"], ["logout"], ["revoke"], login(sandbox)] {
      let outcome = try await run(
        command + ["--passphrase-file", folder.file("passphrase")], store)
      #expect(outcome.status == 1)
      #expect(outcome.output.isEmpty)
      #expect(outcome.errors.contains("error: wrong_passphrase: "), "\(outcome.errors)")
      #expect(outcome.errors.contains("\nNothing was changed. "))
      #expect(!outcome.errors.contains("wrong\n"))
    }
    #expect(try Data(contentsOf: URL(filePath: store.path(folder))) == before)
    // The program checks the passphrase before it opens a browser or contacts the server.
    #expect(sandbox.requests.isEmpty)
    await sandbox.stop()
  }

  @Test(arguments: DemoStore.sealed.filter { $0.passphrase != nil })
  func `without a terminal, a store's passphrase must come from a file or a variable`(
    store: DemoStore
  ) async throws {
    let sandbox = try await SandboxServer.start()
    try await store.open(store.path(folder)).keepExpiredAccount(at: sandbox)
    let outcome = try await DemoProcess.run(["token"] + store.options(folder), in: folder)
    #expect(outcome.status == 1)
    #expect(outcome.firstError.hasPrefix("error: passphrase_needed: "))
    #expect(outcome.errors.contains("SQ_STORE_PASSPHRASE"))
    #expect(!folder.exists("deep/tokens.key"))
    await sandbox.stop()
  }

  @Test(arguments: DemoStore.all)
  func `a stored account is not overwritten in a damaged store`(store: DemoStore) async throws {
    let sandbox = try await SandboxServer.start()
    try await store.open(store.path(folder)).keepExpiredAccount(at: sandbox)
    let whole = try await content(of: store)
    let damaged = whole.dropLast(whole.count / 3)
    try damaged.write(to: URL(filePath: store.path(folder)))
    for command in [["token"], ["accounts"], ["logout"], login(sandbox)] {
      let outcome = try await run(command, store)
      #expect(outcome.status == 1)
      #expect(outcome.output.isEmpty)
      #expect(outcome.errors.contains("error: store_damaged: "), "\(outcome.errors)")
      #expect(outcome.errors.contains("\nNothing was changed. "))
    }
    #expect(try Data(contentsOf: URL(filePath: store.path(folder))) == damaged)
    #expect(sandbox.requests.isEmpty)
    await sandbox.stop()
  }

  @Test func `the store of a newer program is not changed`() async throws {
    try folder.write(#"{"version": 99, "accounts": {}}"#, to: "tokens")
    let outcome = try await DemoProcess.run(
      ["accounts", "--store", "file:" + folder.file("tokens")], in: folder)
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("error: store_too_new: "))
    #expect(outcome.errors.contains("Use the program that wrote the store"))
    #expect(folder.read("tokens") == #"{"version": 99, "accounts": {}}"#)
  }

  @Test(arguments: ["file:tokens", "sqlite:tokens", "memory", "keyring"])
  func `a passphrase file is rejected if the store is not encrypted`(store: String) async throws {
    let outcome = try await DemoProcess.run(
      ["accounts", "--store", store, "--passphrase-file", "x"], in: folder)
    #expect(outcome.status == 2)
    #expect(outcome.firstError.hasPrefix("error: usage: --passphrase-file is for "))
  }
}

extension DemoStore {
  var isSealed: Bool { kind.hasPrefix("encrypted") }
}
