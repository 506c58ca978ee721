import Foundation
import ProgramSupport
import SQFiles
import SequencingOAuth
import TestSupport
import Testing

/// Which files a store accepts, makes private or rejects.
@Suite(.timeLimit(.minutes(3))) struct FileTrustTests {
  enum Verdict { case believed, mended, refused }

  static let me: UInt32 = 1000
  static let rows: [(kind: String, owner: UInt32, mode: UInt32, verdict: Verdict)] = [
    ("tokens", me, 0o600, .believed), ("tokens", me, 0o400, .believed),
    ("tokens", me, 0o700, .believed), ("tokens", me, 0o000, .believed),
    ("tokens", me, 0o644, .mended), ("tokens", me, 0o640, .mended),
    ("tokens", me, 0o604, .mended), ("tokens", me, 0o611, .mended),
    ("tokens", me, 0o620, .refused), ("tokens", me, 0o602, .refused),
    ("tokens", me, 0o666, .refused), ("tokens", me, 0o777, .refused),
    ("tokens", 0, 0o600, .refused), ("tokens", 0, 0o444, .refused),
    ("tokens", 1001, 0o600, .refused), ("tokens", 65_534, 0o600, .refused),
    ("database", me, 0o600, .believed), ("database", me, 0o644, .mended),
    ("database", me, 0o660, .refused), ("database", 0, 0o600, .refused),
    ("key", me, 0o600, .believed), ("key", me, 0o400, .believed), ("key", me, 0o644, .refused),
    ("key", me, 0o640, .refused), ("key", me, 0o604, .refused), ("key", me, 0o666, .refused),
    ("key", 0, 0o444, .believed), ("key", 0, 0o440, .believed), ("key", 0, 0o664, .refused),
    ("key", 0, 0o602, .refused), ("key", 1001, 0o444, .refused),
  ]

  @Test(arguments: rows)
  func `the owner and mode of a file decide whether it is accepted`(
    _ row: (kind: String, owner: UInt32, mode: UInt32, verdict: Verdict)
  ) throws {
    let trust = try #require(
      ["tokens": FileTrust.tokens, "key": .key, "database": .database][row.kind])
    let status = FileStatus(owner: row.owner, mode: row.mode)
    if row.verdict == .refused {
      #expect(throws: FileFailure.self) { try trust.needsMending(status, user: Self.me) }
    } else {
      #expect(try trust.needsMending(status, user: Self.me) == (row.verdict == .mended))
    }
  }

  @Test func `a key file on a read-only disk may be readable but not writable by others`() throws {
    let status = FileStatus(owner: Self.me, mode: 0o644)
    #expect(try FileTrust.key.needsMending(status, user: Self.me, isReadOnly: true))
    #expect(throws: FileFailure.self) {
      try FileTrust.key.needsMending(
        FileStatus(owner: Self.me, mode: 0o666), user: Self.me, isReadOnly: true)
    }
  }

  @Test func `root rejects other users' files and accepts its own key file with an unchanged mode`()
    throws
  {
    #expect(throws: FileFailure.self) {
      try FileTrust.tokens.needsMending(FileStatus(owner: Self.me, mode: 0o600), user: 0)
    }
    #expect(throws: FileFailure.self) {
      try FileTrust.key.needsMending(FileStatus(owner: Self.me, mode: 0o600), user: 0)
    }
    #expect(try !FileTrust.key.needsMending(FileStatus(owner: 0, mode: 0o444), user: 0))
    #expect(try FileTrust.tokens.needsMending(FileStatus(owner: 0, mode: 0o444), user: 0))
  }

  @Test(arguments: StoreKind.onDisk, [0o644, 0o640, 0o604])
  func `a file readable by others becomes private when it is read`(
    kind: StoreKind, mode: Int
  ) async throws {
    let folder = try TemporaryFolder()
    try await kind.open(folder).save(record("a"))
    try setMode(mode, try kind.path(folder))
    #expect(try await kind.open(folder).load("a") == record("a"))
    try folder.expectPrivate()
  }

  @Test(arguments: StoreKind.onDisk, [0o666, 0o620, 0o602])
  func `a file writable by others is rejected with advice and not changed`(
    kind: StoreKind, mode: Int
  ) async throws {
    let folder = try TemporaryFolder()
    try await kind.open(folder).save(record("a"))
    let path = try kind.path(folder)
    try setMode(mode, path)
    let before = try Data(contentsOf: URL(filePath: path))
    try await expectRefused(kind, folder, "set its mode to 0600")
    // The store that created a database may still be closing it.
    if !kind.needsRoomToRead { #expect(try Data(contentsOf: URL(filePath: path)) == before) }
    try setMode(0o600, path)
    #expect(try await kind.open(folder).load("a") == record("a"))
  }

  @Test(.requires("root", PermissionTests.isRoot), arguments: StoreKind.onDisk)
  func `another user's file is rejected, even by root`(kind: StoreKind) async throws {
    let folder = try TemporaryFolder()
    try await kind.open(folder).save(record("a"))
    let path = try kind.path(folder)
    chown(path, PermissionTests.nobody, PermissionTests.nobody)
    try await expectRefused(kind, folder, "belongs to user 65534")
    let owner = try FileManager.default.attributesOfItem(atPath: path)[.ownerAccountID]
    #expect(owner as? Int == 65_534)
    chown(path, 0, 0)
    #expect(try await kind.open(folder).load("a") == record("a"))
  }

  @Test(arguments: StoreKind.onDisk)
  func `a named pipe in the file's place is rejected at once`(kind: StoreKind) async throws {
    let folder = try TemporaryFolder()
    try await kind.open(folder).save(record("a"))
    let path = try kind.path(folder)
    try FileManager.default.moveItem(atPath: path, toPath: folder.file("aside"))
    #expect(mkfifo(path, 0o600) == 0)
    try await expectRefused(kind, folder, "pipe")
  }

  @Test func `a device file in place of a store is rejected and not read to its end`() async throws
  {
    let store = FileTokenStore(path: "/dev/zero")
    let error = await failure(.storeFailed) { try await store.load("a") }
    #expect(error?.message.contains("/dev/zero") == true)
    await failure(.storeFailed) { try await KeyManager.makeKeyFile(at: "/dev/full") }
  }

  @Test(arguments: [StoreKind.file, .encrypted])
  func `a file of more than 256 MB is rejected`(kind: StoreKind) async throws {
    let folder = try TemporaryFolder()
    try await kind.open(folder).save(record("a"))
    #expect(truncate(try kind.path(folder), 256 * 1024 * 1024 + 1) == 0)
    try await expectRefused(kind, folder, "268435456 bytes")
  }

  /// Root can read a file of mode 000, so a process of root first becomes another user.
  @Test(arguments: StoreKind.onDisk)
  func `files created under umask 0777 are usable in the next run`(
    kind: StoreKind
  ) async throws {
    let folder = try TemporaryFolder()
    if PermissionTests.isRoot { chown(folder.path, PermissionTests.nobody, PermissionTests.nobody) }
    let user = PermissionTests.isRoot ? ["--user", "\(PermissionTests.nobody)"] : []
    func run(_ command: [String]) async throws -> ChildProcess.Result {
      try await ChildProcess.run(
        ["bash", "-c", "umask 0777; exec \"$@\"", "-", StoreProbe.executable] + user
          + [kind.address?(folder) ?? ""] + command,
        input: StoreProbe.input([record("a")]))
    }
    for command in [["save"], ["load", "a"], ["lease", "a"], ["lease", "a"], ["save"]] {
      let result = try await run(command)
      #expect(result.status == 0, "\(command) \(result.errors)")
      switch command[0] {
      case "load": #expect(try result.record() == record("a"))
      case "lease": #expect(result.output == "leased\nreleased\n")
      default: #expect(result.output == "saved\n")
      }
    }
    try folder.expectPrivate()
  }

  @Test(
    .requires("the right to mount a file system", SmallDisk.isAllowed),
    arguments: [StoreKind.file, .encrypted])
  func `on a read-only disk a file keeps its mode, and there is no lease`(
    kind: StoreKind
  ) async throws {
    let folder = try TemporaryFolder()
    try await kind.open(folder).save(record("a"))
    let path = try kind.path(folder)
    try setMode(0o644, path)
    func run(_ command: [String]) async throws -> ChildProcess.Result {
      let script = "mount --bind $0 $0 && mount -o remount,bind,ro $0 && exec \"$@\""
      return try await ChildProcess.run(
        SmallDisk.unshare + ["bash", "-c", script, folder.path, StoreProbe.executable]
          + [kind.address?(folder) ?? ""] + command)
    }
    let loaded = try await run(["load", "a"])
    #expect(try loaded.record() == record("a"), "\(loaded.errors)")
    #expect(try TemporaryFolder.mode(path) == 0o644)
    let lease = try await run(["lease", "a"])
    #expect(lease.code == .storeFailed && lease.errors.contains("Read-only"), "\(lease.errors)")
  }

  private func expectRefused(
    _ kind: StoreKind, _ folder: TemporaryFolder, _ why: String
  ) async throws {
    let store = try kind.open(folder)
    for error in [
      await failure(.storeFailed) { try await store.load("a") },
      await failure(.storeFailed) { try await store.list() },
      await failure(.storeFailed) { try await store.save(record("b")) },
      await failure(.storeFailed) { try await store.erase("a") },
    ] {
      #expect(error?.message.contains(why) == true, "\(error?.message ?? "no error")")
      #expect(error?.message.contains(try kind.path(folder)) == true)
    }
  }

  private func setMode(_ mode: Int, _ path: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }
}
