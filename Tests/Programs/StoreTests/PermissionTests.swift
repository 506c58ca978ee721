import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthSQLite
import TestSupport
import Testing

/// The permissions of a store's files, and the errors of a store that may not write.
@Suite(.timeLimit(.minutes(3))) struct PermissionTests {
  static let nobody: UInt32 = 65_534
  static let isRoot = getuid() == 0

  /// The umask makes a file neither readable by others nor unreadable for its owner.
  @Test(arguments: StoreKind.onDisk, ["000", "022", "077", "177", "777"])
  func `files get mode 0600 and folders 0700 under any umask`(
    kind: StoreKind, mask: String
  ) async throws {
    let folder = try TemporaryFolder()
    let shell = ["bash", "-c", "umask \(mask); exec \"$@\"", "-"]
    for (command, output) in [(["save"], "saved\n"), (["lease", "a"], "leased\nreleased\n")] {
      let result = try await ChildProcess.run(
        shell + [StoreProbe.executable, kind.address?(folder) ?? ""] + command,
        input: StoreProbe.input([record("a")]))
      #expect(result.status == 0, "\(result.errors)")
      #expect(result.output == output)
    }
    try folder.expectPrivate()
    #expect(try folder.contents().count > 3)
    #expect(try await kind.open(folder).load("a") == record("a"))
  }

  /// For Swift, a slash and a combining character after it are one character.
  @Test func `a folder whose name begins with a combining character is made in its own folder`()
    async throws
  {
    let folder = try TemporaryFolder()
    let path = folder.file("a/\u{301}b/\u{301}tokens")
    for store: any TokenStore in [
      FileTokenStore(path: path + ".json"), SQLiteTokenStore(path: path + ".sqlite", key: nil),
    ] {
      try await store.save(record("a"))
      #expect(try await store.load("a") == record("a"))
    }
    for file in ["a", "a/\u{301}b", "a/\u{301}b/\u{301}tokens.json"] {
      #expect(FileManager.default.fileExists(atPath: folder.file(file)), "\(file)")
    }
    try folder.expectPrivate()
  }

  @Test(arguments: StoreKind.onDisk)
  func `a link in the file's place is rejected and its target not changed`(
    kind: StoreKind
  ) async throws {
    let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
    try await kind.open(folder).save(record("a"))
    let (path, target) = (try kind.path(folder), other.file("target"))
    // Copied, not moved: a process that still has the old file open may write to it as it closes.
    try FileManager.default.copyItem(atPath: path, toPath: target)
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    let before = try other.bytes("target")
    let store = try kind.open(folder)
    await failure(.storeFailed) { try await store.load("a") }
    await failure(.storeFailed) { try await store.list() }
    await failure(.storeFailed) { try await store.save(record("b")) }
    await failure(.storeFailed) { try await store.erase("a") }
    #expect(try other.bytes("target") == before)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == target)
  }

  /// Root may write everywhere, so a process of root first becomes another user.
  @Test(.requires("root", isRoot), arguments: StoreKind.onDisk)
  func `a save in an unwritable folder throws a typed error and creates no file`(
    kind: StoreKind
  ) async throws {
    let folder = try TemporaryFolder()
    try setMode(0o755, folder.path)
    let result = try await StoreProbe.run(
      kind, in: folder, ["save"], user: Self.nobody, input: StoreProbe.input([record("a")]))
    #expect(result.code == .storeFailed, "\(result.errors)")
    #expect(result.errors.contains(folder.path), "the error names the folder")
    #expect(!result.errors.contains(Records.full.accessToken))
    #expect(try folder.contents() == [])
  }

  @Test(.requires("root", isRoot))
  func `a key file in an unwritable folder is used, but no new file is created there`() async throws
  {
    let folder = try TemporaryFolder()
    let path = folder.file("key")
    try setMode(0o755, folder.path)
    func key() async throws -> ChildProcess.Result {
      try await StoreProbe.run(.encrypted, in: folder, ["make-key", path], user: Self.nobody)
    }
    let absent = try await key()
    #expect(absent.code == .storeFailed && absent.errors.contains(path), "\(absent.errors)")
    _ = try await KeyManager.makeKeyFile(at: path)
    let unreadable = try await key()
    #expect(unreadable.code == .storeFailed && unreadable.errors.contains(path))
    chown(path, Self.nobody, Self.nobody)
    let result = try await key()
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output.contains(try folder.bytes("key").base64EncodedString()))
    #expect(try folder.contents().sorted() == ["key", "key.lock"])
  }

  @Test(.requires("root", isRoot), arguments: StoreKind.onDisk)
  func `another user's store causes a typed error, does not appear empty and is not changed`(
    kind: StoreKind
  ) async throws {
    let folder = try TemporaryFolder()
    try await kind.open(folder).save(record("a"))
    try setMode(0o755, folder.path)
    for command in [["load", "a"], ["list"], ["save"], ["erase", "a"], ["lease", "a"]] {
      let result = try await StoreProbe.run(
        kind, in: folder, command, user: Self.nobody, input: StoreProbe.input([record("a")]))
      #expect(result.code == .storeFailed, "\(command) \(result.output)\(result.errors)")
    }
    #expect(try await kind.open(folder).all() == [record("a")])
  }

  @Test(.requires("root", isRoot), arguments: StoreKind.onDisk)
  func `a store in a read-only folder keeps each record that it has reported as saved`(
    kind: StoreKind
  ) async throws {
    let folder = try TemporaryFolder()
    try await kind.open(folder).save(record("a"))
    for name in try folder.contents() { chown(folder.file(name), Self.nobody, Self.nobody) }
    try setMode(0o755, folder.path)
    let place = (try kind.path(folder) as NSString).deletingLastPathComponent
    chown(place, 0, 0)
    try setMode(0o755, place)
    let new = record("a", token: SQToken(accessToken: "new"))
    var kept = [record("a")]
    for (command, changed) in [(["save"], [new]), (["erase", "a"], [])] {
      let result = try await StoreProbe.run(
        kind, in: folder, command, user: Self.nobody, input: StoreProbe.input([new]))
      // A database with an existing log creates no file; every other store creates one.
      if result.status == 0, kind.name.contains("SQLite") {
        kept = changed
      } else {
        #expect(result.code == .storeFailed, "\(command) \(result.output)\(result.errors)")
      }
    }
    let loaded = try await StoreProbe.run(
      kind, in: folder, ["load", "a"], user: Self.nobody)
    // Some stores cannot even be read in a read-only folder. None may appear empty.
    #expect(try loaded.code == .storeFailed || loaded.record() == kept.first)
    // The store would reject the files of another user, so root becomes their owner.
    for name in try folder.contents() { chown(folder.file(name), 0, 0) }
    #expect(try await kind.open(folder).all() == kept)
  }

  private func setMode(_ mode: Int, _ path: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }
}
