import Foundation
import SQBasics
import SequencingOAuth
import SequencingOAuthSQLite

/// An error for arguments that make no sense.
struct Misuse: Error, CustomStringConvertible {
  let message: String
  var description: String { message }
}

/// The commands of the store probe.
///
/// Each command prints a line when it is done, or one line per result.
struct Probe {
  let store: any TokenStore

  func run(_ command: String, _ arguments: [String]) async throws {
    switch (command, arguments.count) {
    case ("until-exit", 1...):
      ExitUse.register()
      try await run(arguments[0], Array(arguments.dropFirst()))
    case ("opened", 1...):
      _ = try await store.list()
      try await run(arguments[0], Array(arguments.dropFirst()))
    case ("elsewhere", 2...):
      guard chdir(arguments[0]) == 0 else { throw Misuse(message: "no folder \(arguments[0])") }
      try await run(arguments[1], Array(arguments.dropFirst(2)))
    case ("land-without-output", 0): try await landWithoutOutput()
    case ("load", 1): try await load(arguments[0])
    case ("save", 0): try await save()
    case ("check", 1):
      try await store.reservation(arguments[0], replacing: nil).release()
      say("checked")
    case ("blocked-by-signal", 0): try await blockedBySignal()
    case ("next", 0...1): try await next(fillingDiskWith: arguments.first)
    case ("erase", 1):
      try await store.erase(arguments[0])
      say("erased")
    case ("list", 0): for id in try await store.list() { say(id) }
    case ("lease", 1): try await lease(arguments[0])
    case ("count", 2): try await count(arguments[0], to: Int(arguments[1]) ?? 0)
    case ("prepare", 0):
      try await encrypted().prepare()
      say("prepared")
    case ("token", 1...2):
      try await token(arguments[0], until: arguments.count > 1 ? arguments[1] : "")
    case ("token-despite-signals", 1): try await tokenDespiteSignals(arguments[0])
    case ("make-key", 1):
      _ = try await KeyManager.makeKeyFile(at: arguments[0])
      say(try Data(contentsOf: URL(filePath: arguments[0])).base64EncodedString())
    case ("lock", 3):
      guard let style = LockRace.Style(rawValue: arguments[0]) else {
        throw Misuse(message: "lock has no style \(arguments[0])")
      }
      say(try LockRace(style: style, path: arguments[1]).run(Int(arguments[2]) ?? 0))
    case ("keep", 1): try await keep(issuer: arguments[0])
    case ("rekey", 1): try await rekey(.file(arguments[0]))
    default: throw Misuse(message: "no command \(command) with \(arguments.count) arguments")
    }
  }

  /// Prints a record as JSON, or `none`.
  private func load(_ id: String) async throws {
    guard let record = try await store.load(id) else { return say("none") }
    say(String(decoding: try JSONEncoder().encode(record), as: UTF8.self))
  }

  /// Saves the records on the lines of standard input, one after another.
  private func save() async throws {
    while let line = readLine() {
      try await store.save(JSONDecoder().decode(AccountRecord.self, from: Data(line.utf8)))
      say("saved")
    }
  }

  /// Calls the store as a refresh does.
  ///
  /// The new record is the first line of standard input. `filler` names a file that fills the disk
  /// at the point where the request would be in progress.
  private func next(fillingDiskWith filler: String?) async throws {
    let record = try JSONDecoder().decode(AccountRecord.self, from: Data((readLine() ?? "").utf8))
    let reservation = try await store.reservation(
      record.id, replacing: try await store.load(record.id))
    say("reserved")
    if let filler { fillDisk(filler) }
    await reservation.writeAhead(record)
    say("landed")
    try await store.save(record)
    say("saved")
    reservation.release()
  }

  /// Writes a write-ahead copy without an open standard output, and then kills the process.
  ///
  /// Meanwhile, another part of the program prints. The record is the first line of standard input.
  private func landWithoutOutput() async throws {
    let record = try JSONDecoder().decode(AccountRecord.self, from: Data((readLine() ?? "").utf8))
    for number in [STDOUT_FILENO, STDERR_FILENO] { close(number) }
    let reservation = try await store.reservation(
      record.id, replacing: try await store.load(record.id))
    printAnywhere()
    await reservation.writeAhead(record)
    printAnywhere()
    kill(getpid(), SIGKILL)
  }

  /// Writes a line to the descriptors 1 and 2, whichever files have these numbers now.
  private func printAnywhere() {
    let line = Array("a line of the program\n".utf8)
    for number in [STDOUT_FILENO, STDERR_FILENO] { _ = write(number, line, line.count) }
  }

  private func fillDisk(_ path: String) {
    let file = open(path, O_WRONLY | O_CREAT, 0o600)
    defer { close(file) }
    for size in [65536, 4096, 1] {
      let zeros = [UInt8](repeating: 0, count: size)
      while write(file, zeros, size) > 0 {}
    }
  }

  /// Holds an account's lease until standard input ends.
  private func lease(_ id: String) async throws {
    guard let lease = try await store.shared.lease(id) else { return say("busy") }
    say("leased")
    while readLine() != nil {}
    lease.release()
    say("released")
  }

  /// Adds one to the number in an account's token `times` times, each time with the lease.
  private func count(_ id: String, to times: Int) async throws {
    for _ in 0..<times {
      var lease = try await store.shared.lease(id)
      while lease == nil {
        try await Task.sleep(for: .milliseconds(1))
        lease = try await store.shared.lease(id)
      }
      let number = Int(try await store.load(id)?.token.accessToken ?? "") ?? 0
      try await store.save(
        AccountRecord(id: id, clientID: "probe", token: SQToken(accessToken: "\(number + 1)")))
      lease?.release()
    }
    say("counted")
  }

  /// Prints a valid access token of the account `a`.
  ///
  /// The process is killed at the step of ``StoppingStore`` that `step` names.
  private func token(_ issuer: String, until step: String) async throws {
    let manager = AccountManager(
      store: StoppingStore(store: store, steps: StoppingStore.Steps(until: step)))
    let account = try await manager.account(
      try ClientConfiguration(clientID: "sandbox-app", provider: .issuer(issuer)), id: "a")
    let token = try await account.token()
    try await account.flush()
    say(token.accessToken)
  }

  /// Refreshes the token of the account `a`.
  ///
  /// A signal that arrives during the refresh ends the program after the refresh.
  private func tokenDespiteSignals(_ issuer: String) async throws {
    let manager = AccountManager(store: store)
    let signals = TerminationSignals(flushing: manager) { say("unkept: \($0.code)") }
    defer { signals.stop() }
    let account = try await manager.account(
      try ClientConfiguration(clientID: "sandbox-app", provider: .issuer(issuer)), id: "a")
    say(try await account.token().accessToken)
    // The signal has arrived during the refresh and ends the program here.
    try await Task.sleep(for: .seconds(60))
  }

  /// Listens for signals with a handler that never returns.
  private func blockedBySignal() async throws {
    let signals = TerminationSignals { _ in
      say("handled")
      while true { sleep(60) }
    }
    defer { signals.stop() }
    say("listening")
    try await Task.sleep(for: .seconds(60))
  }

  /// Changes the key of the store.
  ///
  /// If the change fails, the store must still be usable.
  private func rekey(_ key: StoreKey) async throws {
    do {
      if let store = store as? SQLiteTokenStore {
        try await store.changeKey(to: key)
      } else {
        try await encrypted().changeKey(to: key)
      }
      say("changed")
    } catch {
      _ = try await store.all()
      throw error
    }
  }

  private func encrypted() throws -> EncryptedFileTokenStore {
    guard let store = store as? EncryptedFileTokenStore else {
      throw Misuse(message: "this store has no key")
    }
    return store
  }

  /// Prints a line at once, without waiting for a full buffer.
  func say(_ line: String) {
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
  }
}
