import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthSQLite
import TestSupport
import Testing

/// Changing the key of a store.
@Suite(.timeLimit(.minutes(5))) struct KeyChangeTests {
  let folder: TemporaryFolder
  let path: String
  let ids = ["a", "b", "c"]

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("deep/er/tokens.sealed")
  }

  func store(_ passphrase: String) -> EncryptedFileTokenStore {
    EncryptedFileTokenStore(path: path, key: .quickPassphrase(passphrase))
  }

  @Test func `after a change the new passphrase opens the same records and the old one fails`()
    async throws
  {
    let changing = store("old")
    for id in ids { try await changing.save(record(id)) }
    try await changing.changeKey(to: .quickPassphrase("new"))
    #expect(try await changing.all() == ids.map { record($0) }, "the store uses the new key itself")
    try await changing.save(record("a", token: SQToken(accessToken: "later")))
    await failure(.wrongPassphrase) { try await store("old").all() }
    #expect(try await store("new").load("a")?.token.accessToken == "later")
    #expect(try await store("new").list() == ids)
  }

  @Test func `a store that does not exist yet uses the new key from its first save`()
    async throws
  {
    let changing = store("old")
    try await changing.changeKey(to: .quickPassphrase("new"))
    #expect(!FileManager.default.fileExists(atPath: path))
    try await changing.save(record("a"))
    #expect(try await store("new").load("a") == record("a"))
  }

  /// A program may run again after it was interrupted.
  @Test func `a repeated change of the key is no error`() async throws {
    try await store("old").save(record("a"))
    for _ in 1...2 {
      let changing = store("old")
      try await changing.changeKey(to: .quickPassphrase("new"))
      #expect(try await changing.load("a") == record("a"))
    }
    await failure(.wrongPassphrase) {
      try await store("old").changeKey(to: .quickPassphrase("another"))
    }
    #expect(try await store("new").load("a") == record("a"))
  }

  @Test func `after a change, a store that is still open with the old key gets an error`()
    async throws
  {
    let (changing, open) = (store("old"), store("old"))
    try await changing.save(record("a"))
    #expect(try await open.load("a") == record("a"))
    try await changing.changeKey(to: .quickPassphrase("new"))
    let before = try Data(contentsOf: URL(filePath: path))
    await failure(.wrongPassphrase) { try await open.load("a") }
    await failure(.wrongPassphrase) { try await open.save(record("b")) }
    #expect(try Data(contentsOf: URL(filePath: path)) == before)
    try await changing.changeKey(to: .quickPassphrase("old"))
    #expect(
      try await open.load("a") == record("a"), "the store opens the file when its key fits again")
  }

  @Test func `another process's key change is detected, and a store with the new key works`()
    async throws
  {
    let open = store("old")
    try await open.save(record("a"))
    let result = try await StoreProbe.run(
      .encrypted, in: folder, ["rekey", folder.file("new.key")],
      environment: ["SQ_STORE_PASSPHRASE": "old"])
    #expect(result.output == "changed\n", "\(result.errors)")
    await failure(.wrongPassphrase) { try await open.load("a") }
    try await open.changeKeyFails()
    let new = EncryptedFileTokenStore(path: path, key: .file(folder.file("new.key")))
    #expect(try await new.load("a") == record("a"))
  }

  @Test(.requires(CCompiler.requirement), arguments: Fault.allCases)
  func `a failed change leaves the store with the old key or the new key`(
    fault: Fault
  ) async throws {
    var calls = 0
    while true {
      let folder = try TemporaryFolder()
      let path = try StoreKind.encrypted.path(folder)
      let keys: [StoreKey] = [.file(path + ".key"), .file(path + ".newkey")]
      for id in ids { try await StoreKind.encrypted.open(folder).save(record(id)) }
      let result = try await StoreProbe.run(
        .encrypted, in: folder, ["rekey", path + ".newkey"],
        environment: FaultLibrary.environment(folder, call: calls + 1, fault))
      let what = "call \(calls + 1) \(fault): \(result.errors)"
      var opened: [Bool] = []
      for key in keys {
        let store = EncryptedFileTokenStore(path: path, key: key)
        do {
          #expect(try await store.all() == ids.map { record($0) }, "\(what)")
          opened.append(true)
        } catch {
          // The new key's file may not exist yet.
          #expect([.wrongPassphrase, .storeFailed].contains(error.code), "\(what)")
          opened.append(false)
        }
      }
      #expect(opened == [true, false] || opened == [false, true], "\(what)")
      if result.status == 0 {
        #expect(opened == [false, true], "\(what)")
      } else if !fault.isDeadly {
        // The error is not `wrong_passphrase`, because the process has the right key and fails for
        // the fault.
        #expect(result.code == .storeFailed, "\(what)")
      }
      guard result.errors.contains("fault: ") else { break }
      calls += 1
    }
    #expect(calls > (fault.isOfWrites ? 0 : 3), "the fault library is loaded and sees the calls")
  }

  /// The old key, or no key at all, must not read anything afterwards.
  @Test(
    .requires(CCompiler.requirement),
    arguments: [StoreKind.encrypted, .sqlite, .encryptedSQLite])
  func `a change that was killed at any moment is finished by the next call`(
    kind: StoreKind
  ) async throws {
    let records = ["old-token", "new-token"].map { record("a", token: SQToken(accessToken: $0)) }
    let base = try TemporaryFolder()
    // A process that is killed during a refresh leaves the new record in a write-ahead copy.
    for (command, record) in zip(["save", "land-without-output"], records) {
      let result = try await StoreProbe.run(
        kind, in: base, [command], input: StoreProbe.input([record]))
      try #require([0, 128 + SIGKILL].contains(result.status), "\(result.errors)")
    }
    try #require(try base.contents().contains { $0.contains(".landing-") })
    var calls = 0
    while true {
      let folder = try await base.copied()
      let newKey = try kind.path(folder) + ".newkey"
      let result = try await StoreProbe.run(
        kind, in: folder, ["rekey", newKey],
        environment: FaultLibrary.environment(folder, call: calls + 1, .kill))
      let what = "call \(calls + 1): \(result.errors)"
      let store = try kind.open(folder)
      try await (store as? EncryptedFileTokenStore)?.changeKey(to: .file(newKey))
      try await (store as? SQLiteTokenStore)?.changeKey(to: .file(newKey))
      #expect(try await store.all() == [records[1]], "\(what)")
      #expect(try !folder.contents().contains { $0.contains(".landing-") }, "\(what)")
      #expect(try await !folder.contains("-token"), "\(what)")
      // The end of the store would empty a database's log.
      withExtendedLifetime(store) {}
      guard result.errors.contains("fault: ") else { break }
      calls += 1
    }
    #expect(calls > 3, "the fault library is loaded and sees the calls")
  }
}

extension EncryptedFileTokenStore {
  /// Expects that a store without the right key cannot change the key.
  fileprivate func changeKeyFails() async throws {
    let before = try Data(contentsOf: URL(filePath: path))
    await failure(.wrongPassphrase) { try await changeKey(to: .quickPassphrase("third")) }
    #expect(try Data(contentsOf: URL(filePath: path)) == before)
  }
}
