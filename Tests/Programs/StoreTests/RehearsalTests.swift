import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthSQLite
import TestSupport
import Testing

/// The check of a store before a sign-in, so that no user signs in for a token that cannot be
/// saved.
@Suite(.timeLimit(.minutes(3))) struct RehearsalTests {
  /// Each kind of store on disk, with a function that opens the store at a path.
  static let kinds: [(name: String, open: @Sendable (String) -> any TokenStore)] = [
    ("file", { FileTokenStore(path: $0) }),
    ("encrypted", { EncryptedFileTokenStore(path: $0, key: .raw(Data(repeating: 1, count: 32))) }),
    ("SQLite", { SQLiteTokenStore(path: $0, key: nil) }),
    ("encrypted SQLite", { SQLiteTokenStore(path: $0, key: .raw(Data(repeating: 1, count: 32))) }),
  ]

  @Test(arguments: StoreKind.onDisk)
  func `the check before a sign-in leaves no file and does not change the store`(kind: StoreKind)
    async throws
  {
    let folder = try TemporaryFolder()
    let store = try kind.open(folder)
    try await store.reservation("a", replacing: nil).release()
    // A lock file is removed a moment after its holder releases it.
    try await eventually("no file is left") { try folder.files().isEmpty }
    try await store.save(record("a"))
    try await store.reservation("b", replacing: nil).release()
    #expect(try await store.all() == [record("a")])
    #expect(try await kind.open(folder).all() == [record("a")])
  }

  @Test(arguments: kinds.indices, ["new/", "new/.", "new/..", "there/", "there/."])
  func `a path that only a folder can have is rejected`(kind: Int, name: String) async throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: folder.file("there"), withIntermediateDirectories: false)
    let store = Self.kinds[kind].open(folder.file(name))
    for error in [
      await failure(.storeFailed) { try await store.load("a") },
      await failure(.storeFailed) { try await store.reservation("a", replacing: nil) },
      await failure(.storeFailed) { try await store.save(record("a")) },
    ] {
      let message = try #require(error?.message)
      #expect(message.contains("add the name of a file"), "\(message)")
    }
    #expect(try folder.contents() == ["there"])
  }

  /// The longest allowed name must leave enough length for the additional files.
  @Test(arguments: kinds.indices)
  func `a file name too long for the store's additional files is rejected before a sign-in`(
    kind: Int
  ) async throws {
    let folder = try TemporaryFolder()
    for length in [200, 214, 215, 250, 255] {
      let store = Self.kinds[kind].open(folder.file(String(repeating: "n", count: length)))
      do {
        try await store.reservation("a", replacing: nil).release()
      } catch let error as SQOAuthError {
        #expect(error.code == .storeFailed && length > 214, "\(length) \(error)")
        continue
      }
      #expect(length <= 214)
      try await store.save(record("a"))
      let reservation = try await store.reservation("a", replacing: record("a"))
      let newer = record("a", token: SQToken(accessToken: "newer"))
      await reservation.writeAhead(newer)
      try await store.save(newer)
      reservation.release()
      #expect(try await store.load("a") == newer)
    }
  }

  @Test func `a key file that cannot be created is an error before a sign-in`() async throws {
    let folder = try TemporaryFolder()
    try Data().write(to: URL(filePath: folder.file("file")))
    let key = StoreKey.file(folder.file("file/key"))
    for store: any TokenStore in [
      EncryptedFileTokenStore(path: folder.file("tokens"), key: key),
      SQLiteTokenStore(path: folder.file("tokens"), key: key),
    ] {
      let error = await failure(.storeFailed) { try await store.reservation("a", replacing: nil) }
      #expect(error?.message.contains("file/key") == true, "\(String(describing: error))")
    }
    try await eventually("no file is left") { try folder.contents() == ["file"] }
  }

  /// On some FUSE file systems and network shares, rename(2) fails or does not replace a file.
  @Test(
    .requires(CCompiler.requirement), arguments: [StoreKind.file, .encrypted],
    ["EIO", "EEXIST", "kept"])
  func `a file system without working renames is rejected before a sign-in`(
    kind: StoreKind, how: String
  ) async throws {
    let folder = try TemporaryFolder()
    let library = folder.file("rename.so")
    try await CCompiler.buildLibrary(Self.renameSource, at: library)
    let environment = ["LD_PRELOAD": library, "SQ_RENAME": how]
    func check() async throws -> ChildProcess.Result {
      try await StoreProbe.run(kind, in: folder, ["check", "a"], environment: environment)
    }
    let missing = try await check()
    #expect(missing.code == .storeFailed, "\(missing.output)\(missing.errors)")
    guard how != "kept" else { return }
    try await kind.open(folder).save(record("a"))
    let existing = try await check()
    #expect(existing.code == .storeFailed, "\(existing.output)\(existing.errors)")
    #expect(try await kind.open(folder).all() == [record("a")])
  }

  /// A library in which every rename fails (`EIO`), a replacing rename fails (`EEXIST`), or a
  /// replacing rename only removes the new file (`kept`).
  private static let renameSource = """
    #include <errno.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    int rename(const char *old, const char *new) {
      const char *how = getenv("SQ_RENAME");
      int is_there = access(new, F_OK) == 0;
      if (strcmp(how, "EIO") == 0) { errno = EIO; return -1; }
      if (is_there && strcmp(how, "EEXIST") == 0) { errno = EEXIST; return -1; }
      if (is_there && strcmp(how, "kept") == 0) return unlink(old);
      return (int)syscall(SYS_rename, old, new);
    }
    """

  /// SQLite can open a database on a full disk but cannot write to it.
  @Test(.requires("the right to mount a file system", SmallDisk.isAllowed))
  func `a database without space for a record is rejected before a sign-in`() async throws {
    let folder = try TemporaryFolder()
    try await StoreKind.sqlite.open(folder).save(record("a"))
    let result = try await checkDatabase(in: folder, free: "0")
    #expect(result.code == .storeFailed, "\(result.output)\(result.errors)")
  }

  /// A save changes a few pages of a database, and does not replace the file.
  @Test(.requires("the right to mount a file system", SmallDisk.isAllowed))
  func `a sign-in to a large database needs only space for one record`() async throws {
    let folder = try TemporaryFolder()
    let token = SQToken(accessToken: String(repeating: "t", count: 50_000))
    try await StoreKind.sqlite.open(folder).save((0..<64).map { record("\($0)", token: token) })
    let path = try StoreKind.sqlite.path(folder)
    try await eventually("the log is in the closed database") {
      let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
      return size > 3_000_000
    }
    let result = try await checkDatabase(in: folder, free: "1M")
    #expect(result.output == "checked\n", "\(result.errors)")
  }

  /// Checks a database before a sign-in, on a disk on which this much space is free.
  private func checkDatabase(
    in folder: TemporaryFolder, free: String
  ) async throws -> ChildProcess.Result {
    let script = """
      set -e; cp -a "$0" "$0.kept"; mount -t tmpfs -o size=16m,mode=0700 tmpfs "$0"
      cp -a "$0.kept/." "$0"; cat /dev/zero >"$0/filler" 2>/dev/null || true
      truncate -s "-\(free)" "$0/filler"
      exec "$@"
      """
    return try await ChildProcess.run(
      SmallDisk.unshare + ["bash", "-c", script, folder.path, StoreProbe.executable]
        + [StoreKind.sqlite.address?(folder) ?? "", "check", "b"])
  }
}

extension TemporaryFolder {
  /// Returns the files below the folder, without folders.
  fileprivate func files() throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: path).filter { name in
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(atPath: file(name), isDirectory: &isFolder)
        && !isFolder.boolValue
    }
  }
}
