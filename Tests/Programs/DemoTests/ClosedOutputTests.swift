import Foundation
import OAuthSandbox
import ProgramSupport
import SequencingOAuth
import TestSupport
import Testing

/// Commands that write to a pipe whose reader has ended, as after `| head -1`.
@Suite(.timeLimit(.minutes(2))) struct `A command whose output has no reader` {
  private let folder: TemporaryFolder
  private let store: FileTokenStore

  init() throws {
    folder = try TemporaryFolder()
    store = FileTokenStore(path: folder.file("tokens"))
  }

  private var storeOptions: [String] { ["--store", "file:" + store.path] }

  @Test func `watch --all stores the tokens of the refreshes in progress, then SIGPIPE ends it`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    var old: [String: String] = [:]
    for id in ["a", "b", "c"] {
      old[id] = try await store.keepExpiredAccount(id, at: sandbox).refreshToken
    }
    let (first, others) = (Gate(isOpen: false), Gate(isOpen: false))
    sandbox.misbehave(at: .token, .hold(until: { await first.opened() }))
    sandbox.misbehave(at: .token, .hold(until: { await others.opened() }), times: 2)
    let demo = try DemoProcess(
      ["watch", "--all"] + storeOptions, in: folder, output: DemoProcess.closedPipe(),
      errors: folder.handle("errors"))
    try await first.isHolding()
    try await others.isHolding(2)
    first.open()
    try await eventually("the program says what it waits for") {
      demo.errors.contains("Waiting for a refresh in progress")
    }
    others.open()
    let outcome = await demo.outcome()
    #expect(outcome.isKilled && outcome.status == SIGPIPE, "\(outcome.errors)")
    #expect(!outcome.errors.contains("error: "), "\(outcome.errors)")
    for (id, old) in old {
      let kept = try await store.load(id)?.token.refreshToken
      #expect(kept != old && kept == sandbox.latestRefreshToken(inFamilyOf: old), "account \(id)")
    }
    await sandbox.stop()
  }

  @Test func `token stores the new tokens, then SIGPIPE ends it`() async throws {
    let sandbox = try await SandboxServer.start()
    let old = try await store.keepExpiredAccount(at: sandbox).refreshToken
    let pipe = try DemoProcess.closedPipe()
    // The pipe is for both streams, so each event is written to it before the token is.
    let demo = try DemoProcess(
      ["token", "--verbose"] + storeOptions, in: folder, output: pipe, errors: pipe)
    let outcome = await demo.outcome()
    #expect(outcome.isKilled && outcome.status == SIGPIPE)
    let kept = try await store.load("default")?.token.refreshToken
    #expect(kept != old && kept == sandbox.latestRefreshToken(inFamilyOf: old))
    await sandbox.stop()
  }

  @Test func `token prints the token if only standard error has no reader`() async throws {
    let sandbox = try await SandboxServer.start()
    try await store.keepExpiredAccount(at: sandbox)
    let demo = try DemoProcess(
      ["token", "--verbose"] + storeOptions, in: folder, output: folder.handle("output"),
      errors: DemoProcess.closedPipe())
    let outcome = await demo.outcome()
    #expect(outcome.status == 0 && !outcome.isKilled)
    let kept = try #require(try await store.load("default"))
    #expect(outcome.output == kept.token.accessToken + "\n")
    await sandbox.stop()
  }
}
