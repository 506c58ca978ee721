import Foundation
import OAuthSandbox
import SequencingOAuth

/// A source of faults: at random moments, it breaks a program, a store or the server, and repairs
/// it a moment later.
struct Saboteur: Sendable {
  let arena: Arena
  let crowd: Crowd
  let tally: Tally

  typealias Deed = (name: String, needsRights: Bool, action: @Sendable () async throws -> Void)

  /// Causes faults until `end`.
  ///
  /// Programs and stores are repaired when this returns. A fault of the server may still wait for
  /// the request that it breaks.
  func work(until end: ContinuousClock.Instant) async {
    let deeds =
      all.filter { arena.hasRights || !$0.needsRights }
      + (arena.hasKeyring ? [("the keyring stopped and continued", false, stopKeyring)] : [])
    while ContinuousClock.now < end {
      try? await pause(0.05...0.4)
      guard let deed = deeds.randomElement() else { return }
      do {
        try await deed.action()
        tally.did(deed.name)
      } catch {
        tally.did("\(deed.name): impossible just then")
      }
    }
  }

  private var all: [Deed] {
    [
      ("a program killed", false, { await kill() }),
      ("a program interrupted", false, { signal([SIGINT, SIGTERM, SIGHUP].randomElement()) }),
      ("a program stopped and continued", false, { try await stop() }),
      ("a disk filled", true, { try await fill() }),
      ("a folder without the right to write", true, { try await revoke() }),
      ("a read-only file system", true, { try await protect() }),
      ("a store locked by a foreign program", false, { try await lock() }),
      ("an account's lease held", false, { try await lease() }),
      ("the server slow", false, { slow() }),
      ("the server failing", false, { arena.sandbox.misbehave(at: .token, .status(503)) }),
      ("a connection cut before the request had an effect", false, { cutBefore() }),
      ("a connection cut after the server had rotated", false, { cutAfter() }),
      ("the server restarted", false, { try await restart() }),
    ]
  }

  private func pause(_ seconds: ClosedRange<Double>) async throws {
    try await Task.sleep(for: .seconds(Double.random(in: seconds)))
  }

  // MARK: Programs

  private func kill() async {
    guard let (account, run) = crowd.anyone() else { return }
    tally.suspects("its program was killed in the middle of a refresh", of: account)
    run.signal(SIGKILL)
  }

  private func signal(_ number: Int32?) {
    if let number { crowd.anyone()?.run.signal(number) }
  }

  private func stop() async throws {
    guard let (_, run) = crowd.anyone() else { return }
    run.signal(SIGSTOP)
    try await pause(0.2...2)
    run.signal(SIGCONT)
  }

  // MARK: Stores

  private var store: StoreUnderTest { arena.onDisk.randomElement() ?? arena.stores[0] }

  private func fill() async throws {
    let filler = store.folder + "/filler"
    _ = try? await Run.succeeds(["bash", "-c", #"cat /dev/zero >"$0" 2>/dev/null"#, filler])
    try? await pause(0.2...1.5)
    await mend { unlink(filler) == 0 || errno == ENOENT }
  }

  private func revoke() async throws {
    let folder = store.folder
    chmod(folder, 0o555)
    try? await pause(0.2...1.5)
    await mend { chmod(folder, 0o700) == 0 }
  }

  private func protect() async throws {
    let folder = store.folder
    try await Run.succeeds(["mount", "-o", "remount,ro", folder])
    try? await pause(0.2...1.5)
    await mend {
      (try? await Run.succeeds(["mount", "-o", "remount,rw", folder])) != nil
    }
  }

  /// Tries until the repair succeeds: another saboteur may have made the file system read-only.
  private func mend(_ isMended: () async -> Bool) async {
    while await !isMended() { try? await pause(0.05...0.1) }
  }

  private func lock() async throws {
    let store = store
    let seconds = Double.random(in: 0.2...2)
    guard store.isDatabase else {
      return try await Run.succeeds(
        arena.asUser(["flock", store.path + ".lock", "sleep", "\(seconds)"]))
    }
    try await Run.succeeds(
      arena.asUser([
        "sqlite3", store.path, "BEGIN IMMEDIATE", ".shell sleep \(seconds)", "ROLLBACK",
      ]))
  }

  private func lease() async throws {
    guard let account = arena.accounts.randomElement() else { return }
    let command = ["flock", account.lock, "sleep", "\(Double.random(in: 0.2...2))"]
    try await Run.succeeds(account.store.isKeyring ? command : arena.asUser(command))
  }

  @Sendable private func stopKeyring() async throws {
    let keyring = try await arena.keyring()
    Foundation.kill(keyring, SIGSTOP)
    try? await pause(0.2...2)
    Foundation.kill(keyring, SIGCONT)
  }

  // MARK: The server

  private func slow() {
    let delay = SandboxMisbehaviour.delay(.milliseconds(Int.random(in: 50...1500)))
    let drip = SandboxMisbehaviour.drip(1, every: .milliseconds(Int.random(in: 1...8)))
    arena.sandbox.misbehave(at: .token, Bool.random() ? delay : drip)
  }

  private func restart() async throws {
    suspectBusy("the server restarted in the middle of its refresh")
    try await arena.sandbox.restart(after: .milliseconds(300))
    suspectBusy("the server restarted in the middle of its refresh")
  }

  private func suspectBusy(_ reason: String) {
    for account in crowd.busy { tally.suspects(reason, of: account) }
  }

  private func cutBefore() {
    arena.sandbox.misbehave(at: .token, .cut(.beforeProcessing, reset: .random()))
  }

  private func cutAfter() {
    let place: SandboxMisbehaviour.Cut = Bool.random() ? .afterProcessing : .duringAnswer
    // It is unknown whose request will be cut. When that request arrives, every account with a
    // running program becomes suspect.
    arena.sandbox.misbehave(
      at: .token,
      .hold(until: { suspectBusy(Self.cut) }, then: .cut(place, reset: .random())))
  }

  private static let cut = "its connection was cut after the server had rotated"
}
