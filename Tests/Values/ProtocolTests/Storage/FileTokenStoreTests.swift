import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

@Suite struct FileTokenStoreTests {
  let folder: TemporaryFolder
  var path: String { folder.file("state/tokens.json") }

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test func `records outlive the store object that saved them`() async throws {
    try await FileTokenStore(path: path).save(record("a"))
    #expect(try await FileTokenStore(path: path).load("a") == record("a"))
  }

  @Test func `two store objects of one file see each other's changes`() async throws {
    let (first, second) = (FileTokenStore(path: path), FileTokenStore(path: path))
    try await first.save(record("a"))
    try await second.save(record("b"))
    #expect(try await first.list() == ["a", "b"])
    try await second.erase("a")
    #expect(try await first.load("a") == nil)
  }

  @Test func `the file has mode 0600, and new folders have mode 0700`() async throws {
    let store = FileTokenStore(path: folder.file("one/two/tokens.json"))
    try await store.save(record("a"))
    #expect(try TemporaryFolder.mode(folder.file("one/two/tokens.json")) == 0o600)
    #expect(try TemporaryFolder.mode(folder.file("one/two")) == 0o700)
    #expect(try TemporaryFolder.mode(folder.file("one")) == 0o700)
  }

  @Test func `the next save changes a file's mode from 0644 to 0600`() async throws {
    try await FileTokenStore(path: path).save(record("a"))
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
    try await FileTokenStore(path: path).save(record("b"))
    #expect(try TemporaryFolder.mode(path) == 0o600)
  }

  @Test
  func `saves leave at most two files in the folder, each with mode 0600`()
    async throws
  {
    let store = FileTokenStore(path: path)
    for id in ["a", "b", "c"] { try await store.save(record(id)) }
    try await store.erase("a")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("state"))
    #expect(names.count <= 2)
    for name in names { #expect(try TemporaryFolder.mode(folder.file("state/\(name)")) == 0o600) }
  }

  @Test func `files that a killed program left behind do not prevent a later save`() async throws {
    try await FileTokenStore(path: path).save(record("a"))
    // A killed writer leaves half of its temporary file, and its lock file without a lock.
    let left = path + ".sq.new"
    try Data("half".utf8).write(to: URL(fileURLWithPath: left))
    #expect(chmod(left, 0o600) == 0)
    try await FileTokenStore(path: path).save(record("b"))
    #expect(try await FileTokenStore(path: path).list() == ["a", "b"])
  }

  @Test func `a symbolic link in place of the file is rejected, and its target stays as it is`()
    async throws
  {
    try await FileTokenStore(path: folder.file("real/tokens.json")).save(record("a"))
    try FileManager.default.createDirectory(
      atPath: folder.file("state"), withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: path, withDestinationPath: folder.file("real/tokens.json"))
    let before = try Data(contentsOf: URL(fileURLWithPath: folder.file("real/tokens.json")))
    let store = FileTokenStore(path: path)
    await failure(.storeFailed) { try await store.load("a") }
    await failure(.storeFailed) { try await store.save(record("b")) }
    await failure(.storeFailed) { try await store.erase("a") }
    await failure(.storeFailed) { try await store.list() }
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file("real/tokens.json"))) == before)
    #expect(
      try FileManager.default.destinationOfSymbolicLink(atPath: path)
        == folder.file("real/tokens.json"))
  }

  @Test func `a save through a dangling link fails and creates no file at the link's target`()
    async throws
  {
    try FileManager.default.createDirectory(
      atPath: folder.file("state"), withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: path, withDestinationPath: folder.file("elsewhere"))
    await failure(.storeFailed) { try await FileTokenStore(path: path).save(record("a")) }
    #expect(!FileManager.default.fileExists(atPath: folder.file("elsewhere")))
  }

  @Test func `a link in place of the lock is rejected`() async throws {
    try await FileTokenStore(path: path).save(record("a"))
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("state"))
    let lock = try #require(names.first { $0 != "tokens.json" })
    try FileManager.default.removeItem(atPath: folder.file("state/\(lock)"))
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("state/\(lock)"), withDestinationPath: folder.file("victim"))
    await failure(.storeFailed) { try await FileTokenStore(path: path).save(record("b")) }
    #expect(!FileManager.default.fileExists(atPath: folder.file("victim")))
  }

  @Test func `a folder in place of the file is an error`() async throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    await failure(.storeFailed) { try await FileTokenStore(path: path).load("a") }
    await failure(.storeFailed) { try await FileTokenStore(path: path).save(record("a")) }
  }

  @Test func `a file in place of a folder is an error`() async throws {
    try Data().write(to: URL(fileURLWithPath: folder.file("state")))
    await failure(.storeFailed) { try await FileTokenStore(path: path).save(record("a")) }
  }
}
