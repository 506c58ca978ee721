import Foundation
import Glibc
import SequencingOAuth
import Testing

@testable import TestSupport

/// One account file and several real processes.
///
/// The body of each exit test runs in its own child process.
@Suite(.timeLimit(.minutes(2))) struct FileTokenStoreProcessTests {
  @Test(.ownThreads) func `a saved token can be loaded after its process has ended`() async throws {
    let folder = try TemporaryFolder()
    await #expect(processExitsWith: .success) { [path = folder.file("tokens.json") as String] in
      try await FileTokenStore(path: path).save(record("a"))
    }
    #expect(try await FileTokenStore(path: folder.file("tokens.json")).load("a") == record("a"))
  }

  @Test(.ownThreads) func `two services under one state folder have separate files`() async throws {
    let folder = try TemporaryFolder()
    await #expect(processExitsWith: .success) { [state = folder.path as String] in
      setenv("XDG_STATE_HOME", state, 1)
      let (one, two) = (try FileTokenStore(service: "one"), try FileTokenStore(service: "two"))
      try await one.save(record("a", token: SQToken(accessToken: "1")))
      try await two.save(record("a", token: SQToken(accessToken: "2")))
      try await one.erase("a")
    }
    #expect(try await FileTokenStore(path: folder.file("one/tokens.json")).load("a") == nil)
    #expect(
      try await FileTokenStore(path: folder.file("two/tokens.json")).load("a")?.token.accessToken
        == "2")
  }

  @Test(.ownThreads) func `another store of a service can have the key of its encrypted file`()
    async throws
  {
    let folder = try TemporaryFolder()
    await #expect(processExitsWith: .success) { [state = folder.path as String] in
      setenv("XDG_STATE_HOME", state, 1)
      try await EncryptedFileTokenStore(service: "one").save(record("a"))
      let other = EncryptedFileTokenStore(path: state + "/other", key: try .file(service: "one"))
      try await other.save(record("b"))
    }
    let key = StoreKey.file(folder.file("one/tokens.key"))
    for (path, id) in [("one/tokens.sealed", "a"), ("other", "b")] {
      let store = EncryptedFileTokenStore(path: folder.file(path), key: key)
      #expect(try await store.load(id) == record(id))
    }
  }

  @Test(.ownThreads) func `saves from two processes at the same time are all kept`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("tokens.json")
    async let first: Void = Self.saveMany("first", path)
    async let second: Void = Self.saveMany("second", path)
    _ = await (first, second)
    #expect(try await FileTokenStore(path: path).list().count == 100)
    #expect(try await FileTokenStore(path: path).load("first-49") == record("first-49"))
  }

  private static func saveMany(_ name: String, _ path: String) async {
    await #expect(processExitsWith: .success) { [name = name as String, path = path as String] in
      let store = FileTokenStore(path: path)
      for index in 0..<50 { try await store.save(record("\(name)-\(index)")) }
    }
  }

  /// Under any umask, the owner and nobody else can read the file.
  @Test(.ownThreads, arguments: [0o000, 0o022, 0o077, 0o177, 0o777])
  func `the file modes do not depend on the umask`(mask: Int) async throws {
    let folder = try TemporaryFolder()
    await #expect(processExitsWith: .success) {
      [mask = mask as Int, path = folder.file("deep/er/tokens.json") as String] in
      umask(mode_t(mask))
      try await FileTokenStore(path: path).save(record("a"))
    }
    #expect(try TemporaryFolder.mode(folder.file("deep/er/tokens.json")) == 0o600)
    let deep = try TemporaryFolder.mode(folder.file("deep"))
    #expect(deep == 0o700)
  }

  /// Root may write everywhere, so a child of root first becomes another user.
  @Test(.ownThreads) func `a save in an unwritable folder throws a typed error`() async throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: folder.file("shut"), withIntermediateDirectories: false)
    for path in [folder.path, folder.file("shut")] {
      try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: path)
    }
    await #expect(processExitsWith: .success) { [path = folder.file("shut") as String] in
      if getuid() == 0 {
        precondition(setgid(65_534) == 0 && setuid(65_534) == 0)
      }
      for file in ["\(path)/tokens.json", "\(path)/new/tokens.json"] {
        let store = FileTokenStore(path: file)
        let error = await failure(.storeFailed) { try await store.save(record("a")) }
        #expect(error?.message.contains(path) == true)
        #expect(error.map { everyText(of: $0).contains("a.b~c") } == false)
      }
    }
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o700], ofItemAtPath: folder.file("shut"))
  }

  @Test(.ownThreads) func `an unreadable file is a typed error, not an empty store`()
    async throws
  {
    let folder = try TemporaryFolder()
    try await FileTokenStore(path: folder.file("tokens.json")).save(record("a"))
    for path in [folder.path] {
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o000], ofItemAtPath: folder.file("tokens.json"))
    await #expect(processExitsWith: .success) { [path = folder.file("tokens.json") as String] in
      let isRoot = getuid() == 0
      if isRoot { precondition(setgid(65_534) == 0 && setuid(65_534) == 0) }
      let error = await failure(.storeFailed) { try await FileTokenStore(path: path).load("a") }
      let why = isRoot ? "belongs to user 0" : "set its mode to 0600"
      #expect(error?.message.contains(why) == true)
      await failure(.storeFailed) { try await FileTokenStore(path: path).list() }
    }
  }
}
