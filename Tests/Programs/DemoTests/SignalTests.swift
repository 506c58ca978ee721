import Foundation
import OAuthSandbox
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

/// Signals to a command, mostly while the server holds back the answer to a refresh.
@Suite(.timeLimit(.minutes(2))) struct `A command that gets a signal` {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  static let commands = [
    ["token"], ["call", "GET", "/api/me"], ["files", "--drive", "/api/drive"], ["watch"],
  ]

  @Test(arguments: commands, [SIGINT, SIGTERM, SIGHUP])
  func `a command that gets a signal waits for the new refresh token and stores it`(
    command: [String], signal: Int32
  ) async throws {
    let sandbox = try await SandboxServer.start()
    let store = DemoStore.file
    let old = try await store.open(store.path(folder)).keepExpiredAccount(at: sandbox)
    let answer = Gate(isOpen: false)
    sandbox.misbehave(
      at: .token, .hold(until: { await answer.opened() }, then: .drip(9, every: .milliseconds(1))))
    let demo = try DemoProcess(command + store.options(folder), in: folder)
    try await answer.isHolding()
    demo.send(signal)
    try await eventually("the program says what it waits for") {
      demo.errors.contains("Waiting for a refresh in progress")
    }
    answer.open()
    let outcome = await demo.outcome()
    let isWatch = command == ["watch"]
    #expect(outcome.status == (isWatch ? 0 : 3) && !outcome.isKilled, "\(outcome.errors)")
    #expect(isWatch || outcome.errors.contains("error: cancelled: "))
    #expect(isWatch || outcome.output.isEmpty)
    let latest = sandbox.latestRefreshToken(inFamilyOf: old.refreshToken)
    #expect(latest != old.refreshToken)
    let kept = try await store.open(store.path(folder)).load("default")
    #expect(kept?.token.refreshToken == latest)
    await sandbox.stop()
  }

  /// The command `timeout` sends its signal to the program and to the program's group.
  @Test func `a command that gets a signal treats simultaneous signals as one`() async throws {
    let sandbox = try await SandboxServer.start()
    let store = DemoStore.file
    let old = try await store.open(store.path(folder)).keepExpiredAccount(at: sandbox)
    let answer = Gate(isOpen: false)
    sandbox.misbehave(
      at: .token, .hold(until: { await answer.opened() }, then: .drip(9, every: .milliseconds(1))))
    let demo = try DemoProcess(["token"] + store.options(folder), in: folder)
    try await answer.isHolding()
    // A stopped program gets all signals when it continues.
    for signal in [SIGSTOP, SIGTERM, SIGHUP, SIGINT, SIGTERM, SIGCONT] { demo.send(signal) }
    try await eventually("the program says what it waits for") {
      demo.errors.contains("Waiting for a refresh in progress")
    }
    answer.open()
    let outcome = await demo.outcome()
    #expect(outcome.status == 3 && !outcome.isKilled, "\(outcome.errors)")
    let latest = sandbox.latestRefreshToken(inFamilyOf: old.refreshToken)
    #expect(try await store.open(store.path(folder)).load("default")?.token.refreshToken == latest)
    await sandbox.stop()
  }

  /// The pipe for the command's output is full, as if its reader had stopped.
  @Test(arguments: [["watch"], ["token"]])
  func `a command that gets a signal ends although its output pipe is full`(command: [String])
    async throws
  {
    var options = SandboxOptions()
    options.accessTokenLifetime = .seconds(1)
    let sandbox = try await SandboxServer.start(options)
    let store = DemoStore.file
    try await store.open(store.path(folder)).keepExpiredAccount(at: sandbox)
    let pipe = Pipe()
    let end = pipe.fileHandleForWriting.fileDescriptor
    let flags = fcntl(end, F_GETFL)
    _ = fcntl(end, F_SETFL, flags | O_NONBLOCK)
    let bytes = [UInt8](repeating: 0x2E, count: 4096)
    while write(end, bytes, bytes.count) > 0 {}
    _ = fcntl(end, F_SETFL, flags)
    let demo = try DemoProcess(
      command + store.options(folder), in: folder, output: pipe.fileHandleForWriting,
      errors: folder.handle("errors"))
    _ = try await sandbox.requests(to: .token, atLeast: 1)
    try await eventually("the token is stored") {
      let kept = try await store.open(store.path(folder)).load("default")?.token.refreshToken
      return kept.map { sandbox.latestRefreshToken(inFamilyOf: $0) == $0 } ?? false
    }
    demo.send(SIGTERM)
    let outcome = await demo.outcome()
    #expect(!outcome.isKilled, "\(outcome.errors)")
    let record = try await store.open(store.path(folder)).load("default")
    let kept = try #require(record?.token.refreshToken)
    #expect(sandbox.latestRefreshToken(inFamilyOf: kept) == kept)
    withExtendedLifetime(pipe) {}
    await sandbox.stop()
  }

  @Test func `a command that gets a signal ends at once at a second signal`() async throws {
    let sandbox = try await SandboxServer.start()
    let store = DemoStore.file
    try await store.open(store.path(folder)).keepExpiredAccount(at: sandbox)
    let silence = AsyncStream.makeStream(of: Void.self)
    sandbox.misbehave(at: .token, .hold(until: { for await _ in silence.stream {} }))
    let demo = try DemoProcess(["token"] + store.options(folder), in: folder)
    _ = try await sandbox.requests(to: .token, atLeast: 1)
    demo.send(SIGINT)
    try await eventually("the program says what it waits for") {
      demo.errors.contains("Waiting for a refresh in progress")
    }
    let outcome = await demo.outcome(sending: SIGINT)
    #expect(outcome.isKilled && outcome.status == SIGINT)
    silence.continuation.finish()
    await sandbox.stop()
  }

  /// The bus accepts connections but does not answer.
  @Test(.requires(.keyring), arguments: [["token"], ["accounts"], ["logout"], ["watch"]])
  func `a command that gets a signal does not wait for a silent keyring`(command: [String])
    async throws
  {
    let bus = try OddBus(.silent, in: folder)
    let demo = try DemoProcess(
      command + ["--store", "keyring"], in: folder,
      environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address])
    try await eventually("the program connects to the bus") { bus.count > 0 }
    demo.send(SIGTERM)
    let outcome = await demo.outcome()
    #expect(outcome.status == 3 && !outcome.isKilled, "\(outcome.errors)")
    #expect(outcome.firstError.hasPrefix("error: cancelled: the desktop's keyring did not answer"))
    bus.stop()
  }
}
