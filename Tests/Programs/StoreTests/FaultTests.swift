import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

/// Failures of every system call of a change, for each store that writes files.
///
/// The first run makes the first call fail, the next run the second, and so on, until a run ends
/// before the failing call.
@Suite(.timeLimit(.minutes(10)), .requires(CCompiler.requirement)) struct FaultTests {
  static let old = record("a", token: SQToken(accessToken: "old", refreshToken: "old-refresh"))
  static let new = record("a", token: SQToken(accessToken: "new", refreshToken: "new-refresh"))

  @Test(arguments: StoreKind.onDisk, Fault.allCases)
  func `a failed first save leaves no record or a complete record`(
    kind: StoreKind, fault: Fault
  ) async throws {
    try await breakEachCall(of: ["save"], kind, fault, from: [], to: [Self.new])
  }

  @Test(arguments: StoreKind.onDisk, Fault.allCases)
  func `a failed save leaves the old record or the new record`(
    kind: StoreKind, fault: Fault
  ) async throws {
    try await breakEachCall(
      of: ["save"], kind, fault, from: [Self.old, record("b")], to: [Self.new, record("b")])
  }

  @Test(arguments: StoreKind.onDisk, Fault.allCases)
  func `a failed erasure leaves the record or no record`(
    kind: StoreKind, fault: Fault
  ) async throws {
    try await breakEachCall(
      of: ["erase", "a"], kind, fault, from: [Self.old, record("b")], to: [record("b")])
  }

  @Test(arguments: StoreKind.landing, Fault.allCases)
  func `a failed refresh leaves the old record, or the new record if it was already written`(
    kind: StoreKind, fault: Fault
  ) async throws {
    try await breakEachCall(
      of: ["next"], kind, fault, from: [Self.old, record("b")], to: [Self.new, record("b")])
  }

  @Test(arguments: [StoreKind.file, .encrypted])
  func `disk space is reserved before a refresh request, and the answer is synced before its use`(
    kind: StoreKind
  ) async throws {
    let calls = try await calls(of: ["next"], kind)
    let made = try #require(calls.firstIndex(of: "fallocate"), "\(calls)")
    #expect(calls[(made + 1)...].first { $0 != "open" } == "fsync")
    let landed = try #require(calls.firstIndex(of: "pwrite"))
    #expect(calls[made..<landed].contains("fsync of a folder"))
    #expect(calls[landed...].dropFirst().first == "fsync")
  }

  /// A power failure would lose an answer whose sync has failed.
  @Test(arguments: [StoreKind.file, .encrypted])
  func `if the store cannot be written, an answer counts as saved only if it was synced`(
    kind: StoreKind
  ) async throws {
    let calls = try await calls(of: ["next"], kind)
    let landed = try #require(calls.firstIndex(of: "pwrite"))
    try #require(calls[landed + 1] == "fsync", "\(calls)")
    // Calls are counted from 1.
    for (call, status) in [(landed + 2, 1), (landed + 3, 0)] {
      let folder = try TemporaryFolder()
      for record in [Self.old, record("b")] { try await kind.open(folder).save(record) }
      let result = try await StoreProbe.run(
        kind, in: folder, ["next"], environment: FaultLibrary.losing(folder, call: call),
        input: StoreProbe.input([Self.new]))
      #expect(result.output.contains("landed"), "\(result.errors)")
      #expect(result.status == status, "\(result.errors)")
      if status == 1 { #expect(result.code == .storeFailed) }
    }
  }

  @Test func `an erased record leaves the database, even if the process was killed meanwhile`()
    async throws
  {
    let (kind, base) = (StoreKind.sqlite, try TemporaryFolder())
    let secret = record("a", token: SQToken(accessToken: "s3cr3t"))
    let saved = try await StoreProbe.run(
      kind, in: base, ["save"], input: StoreProbe.input([secret, record("b")]))
    try #require(saved.status == 0, "\(saved.errors)")
    var calls = 0
    while true {
      let folder = try await base.copied()
      let result = try await StoreProbe.run(
        kind, in: folder, ["erase", "a"],
        environment: FaultLibrary.environment(folder, call: calls + 1, .kill))
      let store = try kind.open(folder)
      try await store.save(record("c"))
      if try await store.list() == ["b", "c"] {
        #expect(try await !folder.contains("s3cr3t"), "call \(calls + 1): \(result.errors)")
      }
      // The end of the store would empty the log.
      withExtendedLifetime(store) {}
      guard result.errors.contains("fault: ") else { break }
      calls += 1
    }
    #expect(calls > 3, "the fault library is loaded and sees the calls")
  }

  /// A disk may not give a page now, and give it later.
  @Test(arguments: [StoreKind.sqlite, .encryptedSQLite])
  func `a database that the disk cannot read is not reported as damaged`(kind: StoreKind)
    async throws
  {
    let folder = try TemporaryFolder()
    // The record is long, so it also takes pages that the database's tree does not name.
    let long = record("a", token: SQToken(accessToken: String(repeating: "a", count: 20_000)))
    for record in [long, record("b")] { try await kind.open(folder).save(record) }
    var calls = 0
    while true {
      let result = try await StoreProbe.run(
        kind, in: folder, ["load", "a"],
        environment: FaultLibrary.unreadable(folder, fromCall: calls + 1))
      let what = "call \(calls + 1): \(result.errors)"
      guard result.errors.contains("fault: ") else {
        #expect(try result.record() == long, "\(what)")
        break
      }
      #expect(result.status == 0 || result.code == .storeFailed, "\(what)")
      calls += 1
    }
    #expect(calls > 3, "the fault library is loaded and sees the calls")
  }

  @Test func `a save that is refused on a file system without locks leaves no lock file`()
    async throws
  {
    let folder = try TemporaryFolder()
    let result = try await StoreProbe.run(
      .file, in: folder, ["save"], environment: FaultLibrary.withoutLocks(folder),
      input: StoreProbe.input([Self.new]))
    #expect(result.code == .storeFailed && result.errors.contains("flock"), "\(result.errors)")
    #expect(try folder.contents().allSatisfy { !$0.hasSuffix(".lock") })
  }

  @Test func `if a file that a killed process left cannot be removed, the error says so`()
    async throws
  {
    let folder = try TemporaryFolder()
    try await StoreKind.file.open(folder).save(Self.old)
    func save(_ environment: [String: String?]) async throws -> ChildProcess.Result {
      try TemporaryFolder.write(Data(), to: StoreKind.file.path(folder) + ".sq.new")
      return try await StoreProbe.run(
        .file, in: folder, ["save"], environment: environment, input: StoreProbe.input([Self.new]))
    }
    let calls = try await save(FaultLibrary.listing(folder)).calls
    // Calls are counted from 1.
    let call = try #require(calls.firstIndex(of: "unlink")) + 1
    let result = try await save(FaultLibrary.environment(folder, call: call, .broken))
    #expect(result.code == .storeFailed && result.errors.contains("unlink: "), "\(result.errors)")
  }

  @Test func `a key that exists is read on a full disk without a lock file`() async throws {
    let folder = try TemporaryFolder()
    let key = Data(repeating: 9, count: 32)
    try TemporaryFolder.write(key, to: folder.file("key"))
    let result = try await StoreProbe.run(
      .file, in: folder, ["make-key", folder.file("key")],
      environment: FaultLibrary.environment(folder, call: 1, .full))
    #expect(result.output == key.base64EncodedString() + "\n", "\(result.errors)")
    #expect(try folder.contents() == ["key"])
  }

  /// A test cannot cut the power, but it can check the order of writes and syncs to the disk.
  @Test(arguments: [StoreKind.file, .encrypted], [["save"], ["erase", "a"]])
  func `a file is synced before its rename, and the rename before the lock is released`(
    kind: StoreKind, command: [String]
  ) async throws {
    let calls = try await calls(of: command, kind)
    let last = try #require(calls.lastIndex(of: "write"))
    #expect(
      calls[last...].filter { $0 != "open" }
        == ["write", "fsync", "rename", "fsync of a folder"]
        // After a save, the write-ahead copy is removed, because the file now has its content.
        + (command[0] == "save" ? ["unlink"] : []) + ["flock"])
  }

  @Test(arguments: [StoreKind.sqlite, .encryptedSQLite], [["save"], ["erase", "a"]])
  func `a database's log is synced when a change returns`(
    kind: StoreKind, command: [String]
  ) async throws {
    let calls = try await calls(of: command, kind)
    // After the last write to the log, the end of the process may move the log into the database.
    let last = try #require(calls.lastIndex(of: "pwrite of a log"), "\(calls)")
    #expect(calls[last...].contains("fdatasync of a log"), "\(calls)")
  }

  /// Returns the system calls of a change to a store with two records.
  private func calls(of command: [String], _ kind: StoreKind) async throws -> [String] {
    let folder = try TemporaryFolder()
    for record in [Self.old, record("b")] { try await kind.open(folder).save(record) }
    let result = try await StoreProbe.run(
      kind, in: folder, command, environment: FaultLibrary.listing(folder),
      input: StoreProbe.input([Self.new]))
    #expect(result.status == 0, "\(result.errors)")
    return result.calls
  }

  private func breakEachCall(
    of command: [String], _ kind: StoreKind, _ fault: Fault, from before: [AccountRecord],
    to after: [AccountRecord]
  ) async throws {
    var calls = 0
    while true {
      let folder = try TemporaryFolder()
      for record in before { try await kind.open(folder).save(record) }
      let result = try await StoreProbe.run(
        kind, in: folder, command,
        environment: FaultLibrary.environment(folder, call: calls + 1, fault),
        input: StoreProbe.input([Self.new]))
      let what = "\(kind.name) \(command[0]), call \(calls + 1) \(fault): \(result.errors)"
      let records = try await kind.open(folder).all()
      #expect(records == before || records == after, "\(what)")
      expectTypedEnd(of: result, fault, what)
      if result.status == 0 { #expect(records == after, "\(what)") }
      if result.output.contains("landed"), result.status != 1 {
        #expect(records == after, "\(what)")
      }
      try await expectUsable(kind, folder, what)
      guard result.errors.contains("fault: ") else {
        #expect(result.status == 0, "\(what)")
        break
      }
      calls += 1
    }
    #expect(calls > (fault.isOfWrites ? 0 : 3), "the fault library is loaded and sees the calls")
  }

  /// Expects success, a kill by the fault, or a typed error.
  private func expectTypedEnd(of result: ChildProcess.Result, _ fault: Fault, _ what: String) {
    if result.status == 128 + SIGKILL, fault.isDeadly { return }
    // If only one read fails, SQLite's own error may name damage, and nothing shows the difference.
    let isUnreadable = result.errors.contains("fault: pread") && result.code == .storeDamaged
    #expect(result.status == 0 || result.code == .storeFailed || isUnreadable, "\(what)")
    if fault == .short { #expect(result.status == 0, "\(what)") }
  }

  /// Expects that no lock is stuck, that the next save works, and that no temporary file is left.
  private func expectUsable(
    _ kind: StoreKind, _ folder: TemporaryFolder, _ what: String
  ) async throws {
    let store = try kind.open(folder)
    try #require(try await store.shared.lease("a"), "\(what)").release()
    try await store.save(record("c"))
    #expect(try await store.load("c") == record("c"), "\(what)")
    let names = try folder.contents().map { ($0 as NSString).lastPathComponent }
    #expect(!names.contains { $0.hasSuffix(".new") || $0.hasSuffix("-journal") }, "\(what)")
    try folder.expectPrivate(what)
  }
}
