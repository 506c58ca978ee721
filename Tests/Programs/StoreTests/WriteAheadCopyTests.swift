import Foundation
import ProgramSupport
import SQBasics
import SQCrypto
import SequencingOAuth
import SequencingOAuthSQLite
import TestSupport
import Testing

/// A store's write-ahead copy: the file in which an answer is written before the store has it.
@Suite(.timeLimit(.minutes(3))) struct WriteAheadCopyTests {
  static let old = record("a", "old")
  static let new = record("a", "new")

  private static func record(
    _ id: String, _ name: String, session: String = "one"
  ) -> AccountRecord {
    AccountRecord(
      id: id, clientID: "client", session: session,
      token: SQToken(
        accessToken: "\(name)-access", refreshToken: "\(name)-refresh-token",
        issueDate: Date(timeIntervalSince1970: 1_750_000_000)))
  }

  /// Saves a record, and leaves its successor in a write-ahead copy, as a killed process would.
  private func landed(_ kind: StoreKind, _ folder: TemporaryFolder) async throws {
    let store = try kind.open(folder)
    try await store.save(Self.old)
    try await store.save(Self.record("b", "other"))
    let reservation = try await store.reservation("a", replacing: Self.old)
    await reservation.writeAhead(Self.new)
    reservation.release()
  }

  private func writeAheadCopies(_ folder: TemporaryFolder) throws -> [String] {
    try folder.contents().filter { $0.contains(".landing") }.map(folder.file)
  }

  @Test(arguments: StoreKind.landing)
  func `a reopened store reads the write-ahead copy, and its next reservation stores the record`(
    kind: StoreKind
  ) async throws {
    let folder = try TemporaryFolder()
    try await landed(kind, folder)
    let store = try kind.open(folder)
    #expect(try await store.load("a") == Self.new)
    #expect(try await store.all() == [Self.new, Self.record("b", "other")])
    #expect(try await store.list() == ["a", "b"])
    #expect(try writeAheadCopies(folder).count == 1)
    // The reservation moves the copy's content into the store, before a refresh can begin.
    try await store.reservation("a", replacing: Self.new).release()
    #expect(try writeAheadCopies(folder).isEmpty)
    #expect(try await kind.open(folder).load("a") == Self.new)
  }

  @Test(arguments: StoreKind.landing)
  func `an unused reservation of disk space leaves no file and keeps other reservations`(
    kind: StoreKind
  ) async throws {
    let folder = try TemporaryFolder()
    let store = try kind.open(folder)
    try await store.save(Self.old)
    let reservation = try await store.reservation("a", replacing: Self.old)
    #expect(try writeAheadCopies(folder).count == 1)
    try folder.expectPrivate("with reservation")
    // Meanwhile, a sign-in of the account makes a reservation too.
    try await store.reservation("a", replacing: nil).release()
    #expect(try writeAheadCopies(folder).count == 1)
    #expect(try await store.load("a") == Self.old, "an empty write-ahead copy is ignored")
    reservation.release()
    #expect(try writeAheadCopies(folder).isEmpty)
  }

  @Test(arguments: [StoreKind.encrypted, .encryptedSQLite])
  func `a cancelled change of the key stops waiting for a refresh in progress`(kind: StoreKind)
    async throws
  {
    let folder = try TemporaryFolder()
    let (store, other) = (try kind.open(folder), try kind.open(folder))
    try await store.save(Self.old)
    let lease = try #require(try await store.shared.lease("a"))
    let reservation = try await store.reservation("a", replacing: Self.old)
    let key = StoreKey.raw(Data(repeating: 7, count: 32))
    let changing = Task {
      await failure(.cancelled) { try await StoreKind.changeKey(of: other, to: key) }
    }
    changing.cancel()
    _ = await changing.value
    reservation.release()
    lease.release()
    #expect(try await store.load("a") == Self.old)
  }

  @Test(arguments: StoreKind.landing)
  func `a write-ahead copy of a newer version is kept, and the error names its file`(
    kind: StoreKind
  ) async throws {
    let folder = try TemporaryFolder()
    try await landed(kind, folder)
    let path = try #require(try writeAheadCopies(folder).first)
    var bytes = try Data(contentsOf: URL(filePath: path))
    let version = try #require(bytes.firstRange(of: Data(" 1 ".utf8)))
    bytes.replaceSubrange(version, with: Data(" 9 ".utf8))
    try bytes.write(to: URL(filePath: path))
    let error = await failure(.storeTooNew) { try await kind.open(folder).load("a") }
    #expect(error?.message.contains((path as NSString).lastPathComponent) == true)
    #expect(try writeAheadCopies(folder) == [path])
  }

  @Test(arguments: StoreKind.landing)
  func `a save or an erasure of the account removes the write-ahead copy`(kind: StoreKind)
    async throws
  {
    let folder = try TemporaryFolder()
    try await landed(kind, folder)
    try await kind.open(folder).save(Self.new)
    #expect(try writeAheadCopies(folder).isEmpty)
    try await landed(kind, folder)
    try await kind.open(folder).erase("a")
    #expect(try writeAheadCopies(folder).isEmpty)
    #expect(try await kind.open(folder).load("a") == nil)
  }

  /// A file that the process opens could otherwise get the descriptor number of standard output.
  @Test(arguments: [StoreKind.file, .encrypted, .sqlite, .encryptedSQLite])
  func `text that a program without standard output prints does not get into the copy`(
    kind: StoreKind
  ) async throws {
    let folder = try TemporaryFolder()
    try await kind.open(folder).save(Self.old)
    let result = try await StoreProbe.run(
      kind, in: folder, ["land-without-output"], input: StoreProbe.input([Self.new]))
    #expect(result.status == 128 + SIGKILL, "\(result.errors)")
    #expect(try await kind.open(folder).load("a") == Self.new)
  }

  /// The stored record can be newer than the copy, for example after a refresh by a version without
  /// write-ahead copies or after a new sign-in.
  @Test(arguments: StoreKind.landing, ["newest", "old"])
  func `a write-ahead copy that does not belong to the stored record is ignored`(
    kind: StoreKind, name: String
  ) async throws {
    let folder = try TemporaryFolder()
    try await landed(kind, folder)
    let path = try #require(try writeAheadCopies(folder).first)
    let landing = try Data(contentsOf: URL(filePath: path))
    let later = Self.record("a", name, session: name == "old" ? "two" : "one")
    try await kind.open(folder).save(later)
    try TemporaryFolder.write(landing, to: path)
    #expect(try await kind.open(folder).load("a") == later)
    try await kind.open(folder).erase("a")
    try TemporaryFolder.write(landing, to: path)
    #expect(try await kind.open(folder).load("a") == nil)
  }

  @Test(arguments: StoreKind.landing)
  func `an incomplete or changed write-ahead copy is ignored`(kind: StoreKind) async throws {
    let folder = try TemporaryFolder()
    try await landed(kind, folder)
    let path = try #require(try writeAheadCopies(folder).first)
    let whole = try Data(contentsOf: URL(filePath: path))
    let end = try #require(whole.lastIndex { $0 != 0 })
    for index in [0, 30, 60, 100, 200, end / 2, end] {
      var torn = whole
      torn[index] ^= 1
      try torn.write(to: URL(filePath: path))
      #expect(try await kind.open(folder).load("a") == Self.old, "byte \(index)")
      try whole.prefix(index).write(to: URL(filePath: path))
      #expect(try await kind.open(folder).load("a") == Self.old, "\(index) bytes")
    }
    try whole.write(to: URL(filePath: path))
    #expect(try await kind.open(folder).load("a") == Self.new)
  }

  /// Returns a store that does not wait for a program that keeps it locked.
  private func impatient(_ kind: StoreKind, _ path: String) -> any TokenStore {
    switch kind.name {
    case StoreKind.file.name: FileTokenStore(path: path, lockLimit: .zero)
    case StoreKind.encrypted.name:
      EncryptedFileTokenStore(path: path, key: .file(path + ".key"), lockLimit: .zero)
    default: SQLiteTokenStore(path: path, key: nil, busyTimeout: .zero)
    }
  }

  @Test(arguments: [StoreKind.file, .encrypted, .sqlite])
  func `if a process keeps the store locked, reserving space fails and the error names the process`(
    kind: StoreKind
  ) async throws {
    let folder = try TemporaryFolder()
    let path = try kind.path(folder)
    let store = impatient(kind, path)
    try await store.save(Self.old)
    let holder = try ChildProcess(
      kind.needsRoomToRead
        ? [
          "sqlite3", path, "BEGIN IMMEDIATE", ".shell echo locked; exec sleep 120",
        ] : ["flock", path + ".lock", "sh", "-c", "echo locked; exec sleep 120"])
    _ = try await holder.line(after: "locked")
    let error = await #expect(throws: SQOAuthError.self) {
      try await store.reservation("a", replacing: Self.old)
    }
    #expect(error?.code == .storeFailed)
    let name = kind.needsRoomToRead ? "sqlite3" : "flock"
    #expect(
      error?.message.contains("process \(holder.processID) (\(name)) keeps ") == true,
      "\(error?.message ?? "")")
    #expect(error?.message.contains(path) == true)
    #expect(try writeAheadCopies(folder).isEmpty)
    holder.signal(SIGKILL)
  }

  @Test(arguments: ["tokens", "state/tokens", "state/deeper/tokens"])
  func `the check before a sign-in accepts a missing store at a relative path and leaves no file`(
    path: String
  ) async throws {
    let folder = try TemporaryFolder()
    for kind in ["file", "encrypted", "sqlite"] {
      let result = try await ChildProcess.run([
        "sh", "-c", "cd \"$1\" && shift && exec \"$@\"", "sh", folder.path,
        StoreProbe.executable, "\(kind):\(path)", "check", "a",
      ])
      #expect(result.output == "checked\n", "\(kind): \(result.errors)")
    }
    // The folders are kept, because another process may already use them.
    let folders = path.split(separator: "/").dropLast()
    let left = folders.indices.map { folders[...$0].joined(separator: "/") }
    #expect(try folder.contents().sorted() == left, "no file is left behind")
  }

  @Test(arguments: [StoreKind.encrypted, .encryptedSQLite])
  func `a change of the key waits for a refresh in progress`(kind: StoreKind) async throws {
    let folder = try TemporaryFolder()
    let (store, other) = (try kind.open(folder), try kind.open(folder))
    try await store.save(Self.old)
    let lease = try #require(try await store.shared.lease("a"))
    let reservation = try await store.reservation("a", replacing: Self.old)
    let key = StoreKey.raw(Data(repeating: 7, count: 32))
    let lock = try FileWatch("\(kind.path(folder)).locks/\(AccountLocks.name(of: "a"))")
    let changing = Task { try await StoreKind.changeKey(of: other, to: key) }
    try await eventually("the change finds the account's lock taken twice") {
      lock.countClosings() >= 2
    }
    await reservation.writeAhead(Self.new)
    try await store.save(Self.new)
    reservation.release()
    lease.release()
    try await changing.value
    #expect(try await other.load("a") == Self.new)
  }

  @Test(arguments: StoreKind.landing)
  func `a write-ahead copy of a newer version causes an error even if the rest is unreadable`(
    kind: StoreKind
  ) async throws {
    let folder = try TemporaryFolder()
    try await landed(kind, folder)
    let path = try #require(try writeAheadCopies(folder).first)
    try Data("SequencingOAuth landing 2 whatever it is\n".utf8).write(to: URL(filePath: path))
    await failure(.storeTooNew) { try await kind.open(folder).load("a") }
  }

  @Test(arguments: [StoreKind.encrypted, .encryptedSQLite, .keyless])
  func `an encrypted write-ahead copy shows no token, and no more about the account than its store`(
    kind: StoreKind
  ) async throws {
    let folder = try TemporaryFolder()
    try await landed(kind, folder)
    let path = try #require(try writeAheadCopies(folder).first)
    let content = try Data(contentsOf: URL(filePath: path))
    for secret in ["new-access", "new-refresh", "refresh_token", "client"] {
      #expect(content.range(of: Data(secret.utf8)) == nil, "\(secret)")
    }
    let digest = Hexadecimal.encode(Digest.sha256("a"))
    #expect(!path.contains(digest.prefix(16)))
  }

  @Test(arguments: [StoreKind.encrypted, .encryptedSQLite])
  func `a change of the key moves the write-ahead copy into the store with the new key`(
    kind: StoreKind
  ) async throws {
    let folder = try TemporaryFolder()
    try await landed(kind, folder)
    let key = StoreKey.raw(Data(repeating: 7, count: 32))
    let path = try kind.path(folder)
    if kind.name == StoreKind.encrypted.name {
      let store = EncryptedFileTokenStore(path: path, key: .file(path + ".key"))
      try await store.changeKey(to: key)
      #expect(try await EncryptedFileTokenStore(path: path, key: key).load("a") == Self.new)
    } else {
      let store = SQLiteTokenStore(path: path, key: .file(path + ".key"))
      try await store.changeKey(to: key)
      #expect(try await SQLiteTokenStore(path: path, key: key).load("a") == Self.new)
    }
    #expect(try writeAheadCopies(folder).isEmpty)
  }
}
