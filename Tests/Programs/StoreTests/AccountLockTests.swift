import Foundation
import OAuthSandbox
import ProgramSupport
import SQBasics
import SQFiles
import SequencingOAuth
import TestSupport
import Testing

/// Lock files of accounts.
///
/// If a lock file stayed, its name would confirm a guess about who has an account.
@Suite(.timeLimit(.minutes(3))) struct AccountLockTests {
  let folder: TemporaryFolder
  let locks: AccountLocks

  init() throws {
    folder = try TemporaryFolder()
    locks = AccountLocks(folder: folder.path)
  }

  @Test(arguments: StoreKind.shared)
  func `an account's lock file exists only while its lease is held`(
    kind: StoreKind
  ) async throws {
    let folder = try TemporaryFolder()
    let store = try kind.open(folder)
    func hasFile() throws -> Bool {
      try folder.contents().contains { $0.hasSuffix("/" + AccountLocks.name(of: "a")) }
    }
    let lease = try #require(try await store.shared.lease("a"))
    #expect(try hasFile())
    #expect(try await store.shared.lease("a") == nil)
    #expect(try hasFile(), "a lease that was refused removes nothing")
    lease.release()
    #expect(try !hasFile())
    let probe = try await StoreProbe.run(kind, in: folder, ["count", "a", "3"])
    #expect(probe.output == "counted\n", "\(probe.errors)")
    #expect(try !hasFile())
    try #require(try await store.shared.lease("a")).release()
  }

  @Test(arguments: [StoreKind.file, .encrypted, .sqlite])
  func `after a sign-in, a refresh and a sign-out no lock file is left`(
    kind: StoreKind
  ) async throws {
    let fixture = try await ManyProcessesTests.SharedAccount(kind)
    #expect(try await fixture.start().result().status == 0)
    #expect(fixture.tokenRequests == 2, "the account was refreshed")
    let account = try await AccountManager(store: kind.open(fixture.folder)).account(
      ClientConfiguration(
        clientID: "sandbox-app", provider: .issuer(fixture.sandbox.issuer.absoluteString)), id: "a")
    try await account.signOut()
    try await account.flush()
    #expect(try await fixture.stored() == nil)
    #expect(try fixture.folder.contents().filter { $0.contains(".locks/") } == [])
  }

  /// Old and new versions run at the same time, so the name must never change.
  @Test func `an account's lock file has the same name in every version`() {
    #expect(AccountLocks.name(of: "alice") == "2bd806c97f0e00af1a1fc3328fa763a9.lock")
  }

  @Test func `a killed process's lock file is removed with the account's next lease`() async throws
  {
    let address = ["file:\(folder.file("tokens.json"))", "lease", "a"]
    let probe = try ChildProcess([StoreProbe.executable] + address, input: .open)
    _ = try await probe.line(after: "leased")
    probe.signal(SIGKILL)
    _ = try await probe.result()
    let name = "tokens.json.locks/" + AccountLocks.name(of: "a")
    #expect(try folder.contents().contains(name))
    let store = FileTokenStore(path: folder.file("tokens.json"))
    try #require(try await store.lease("a")).release()
    #expect(try !folder.contents().contains(name))
  }

  @Test func `old lock files are removed with the first lease, and other files are kept`()
    async throws
  {
    let names = ["old", "young", "held", "another old"].map { AccountLocks.name(of: $0) }
    let others = ["notes.txt", "0123.lock", names[0] + ".lock"]
    for name in names + others { try Data().write(to: URL(filePath: folder.file(name))) }
    for name in [names[0], names[2], names[3]] + others { try age(name) }
    let held = try #require(try FileLock.ifFree(folder.file(names[2])))
    defer { held.release() }
    try #require(try locks.lease("a")).release()
    let kept = Set([names[1], names[2]] + others)
    try await eventually("the old lock files are removed") { try Set(folder.contents()) == kept }
  }

  /// An older version does this: it locks a file that it has already opened.
  @Test func `a lock file that another program has just opened stays locked after its removal`()
    async throws
  {
    let lease = try #require(try locks.lease("a"))
    let path = folder.file(AccountLocks.name(of: "a"))
    let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    lease.release()
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(flock(opened, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    let next = try #require(try locks.lease("a"), "the new file is free")
    #expect(flock(opened, LOCK_EX | LOCK_NB) != 0)
    close(opened)
    next.release()
  }

  /// The kernel may not yet report that another program is opening the removed file.
  @Test func `a lock file's lock is held for a moment after the file is removed`() async throws {
    let removed = folder.file(AccountLocks.name(of: "a")) + " (deleted)"
    func isKept() throws -> Bool {
      let files = FileManager.default
      return try files.contentsOfDirectory(atPath: "/proc/self/fd").contains {
        (try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == removed
      }
    }
    // On a busy machine the lock may end before the check, so the test tries a hundred times.
    let isSeen = try (0..<100).contains { _ in
      try #require(try locks.lease("a")).release()
      return try isKept()
    }
    #expect(isSeen)
    try await eventually("the removed lock files are closed") { try !isKept() }
  }

  @Test
  func `a lock that an older version holds excludes this version, and its file is removed later`()
    async throws
  {
    let path = folder.file(AccountLocks.name(of: "a"))
    let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    #expect(flock(opened, LOCK_EX | LOCK_NB) == 0)
    #expect(try locks.lease("a") == nil)
    flock(opened, LOCK_UN)
    close(opened)
    try #require(try locks.lease("a")).release()
    #expect(try folder.contents() == [])
  }

  /// An old version needs the lock that is kept after a removal.
  ///
  /// Each process keeps at most 128 such locks, so it removes fewer files here.
  @Test(arguments: [
    (["new", "new", "new"], 1000), (["old", "old", "new", "new"], 120),
    (["hasty", "hasty", "new", "new"], 1000),
  ])
  func `no two processes hold the same lock at once, even with different versions`(
    versions: [String], rounds: Int
  ) async throws {
    let path = folder.file(AccountLocks.name(of: "a"))
    let probes = try versions.map { version in
      try ChildProcess([StoreProbe.executable, "file:/nowhere", "lock", version, path, "\(rounds)"])
    }
    for probe in probes {
      let result = try await probe.result()
      #expect(result.output == "0 clashes\n", "\(result.errors)")
    }
  }

  /// A process has a kernel lease for a moment when it removes a lock file.
  ///
  /// A file server may keep a kernel lease longer.
  @Test func `a lock file on which another program holds a kernel lease cannot be locked`() throws {
    let path = folder.file("lock")
    let leased = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    // 10 and 1024 are F_SETSIG and F_SETLEASE, which Swift does not import. The default signal,
    // SIGIO, would end the tests.
    #expect(fcntl(leased, 10, SIGURG) == 0 && fcntl(leased, 1024, Int32(F_WRLCK)) == 0)
    #expect(try FileLock.ifFree(path) == nil)
    // A copy of the descriptor in a child that another test is just starting would keep the lease.
    #expect(fcntl(leased, 1024, Int32(F_UNLCK)) == 0)
    close(leased)
    try #require(try FileLock.ifFree(path)).remove()
  }

  @Test func `the holder of a deleted lock file does not remove the next holder's file`() throws {
    let lock = try #require(try FileLock.ifFree(folder.file("lock")))
    try FileManager.default.removeItem(atPath: folder.file("lock"))
    let next = try #require(try FileLock.ifFree(folder.file("lock")))
    lock.remove()
    #expect(try FileLock.ifFree(folder.file("lock")) == nil, "only the holder removes the file")
    next.remove()
    #expect(try folder.contents() == [])
  }

  @Test(.requires("root", PermissionTests.isRoot))
  func `a lock file of mode 000 can be locked by its owner but not by another user`()
    async throws
  {
    let store = folder.file("tokens.json")
    chown(folder.path, PermissionTests.nobody, PermissionTests.nobody)
    let name = "tokens.json.locks/" + AccountLocks.name(of: "a")
    try FileManager.default.createDirectory(
      atPath: folder.file("tokens.json.locks"), withIntermediateDirectories: false)
    chown(folder.file("tokens.json.locks"), PermissionTests.nobody, PermissionTests.nobody)
    for (owner, status) in [(PermissionTests.nobody, Int32(0)), (UInt32(0), 1)] {
      try Data().write(to: URL(filePath: folder.file(name)))
      chown(folder.file(name), owner, owner)
      chmod(folder.file(name), 0)
      let result = try await ChildProcess.run([
        StoreProbe.executable, "--user", "\(PermissionTests.nobody)", "file:\(store)", "lease", "a",
      ])
      #expect(result.status == status, "\(result.output)\(result.errors)")
    }
  }

  private func age(_ name: String) throws {
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -120)], ofItemAtPath: folder.file(name))
  }
}
