import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

/// Named keys and key files.
@Suite(.timeLimit(.minutes(3))) struct KeyFileTests {
  let folder: TemporaryFolder
  let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("keys/store.key")
  }

  @Test func `each name belongs to only one key`() throws {
    let keys = KeyManager()
    #expect(keys.key(named: "a") == nil && keys.remove(named: "a") == nil && keys.names == [])
    try keys.add(.passphrase("p"), named: "a")
    try keys.add(.file(path, passphrase: "q"), named: "b")
    let error = failure(.duplicateName) { try keys.add(.testKey, named: "a") }
    #expect(error?.message.contains("\"a\"") == true)
    #expect(keys.key(named: "a")?.description == StoreKey.passphrase("p").description)
    #expect(keys.names == ["a", "b"])
    #expect(keys.remove(named: "a") != nil)
    #expect(keys.key(named: "a") == nil && keys.names == ["b"])
    try keys.add(.testKey, named: "a")
  }

  @Test func `a key file is private, random and created once`() async throws {
    _ = try await KeyManager.makeKeyFile(at: path)
    let first = try folder.bytes("keys/store.key")
    #expect(first.count == 32)
    try folder.expectPrivate()
    _ = try await KeyManager.makeKeyFile(at: path)
    #expect(try folder.bytes("keys/store.key") == first)
    _ = try await KeyManager.makeKeyFile(at: folder.file("other.key"))
    #expect(try folder.bytes("other.key") != first)
  }

  @Test func `a client key and a store key can have the same name`() throws {
    let keys = KeyManager()
    let key = try ClientKey(generating: .es256)
    try keys.add(.testKey, named: "a")
    #expect(keys.clientKey(named: "a") == nil)
    #expect(try keys.add(key, named: "a") == key)
    failure(.duplicateName) { try keys.add(try ClientKey(generating: .edDSA), named: "a") }
    #expect(keys.clientKey(named: "a") == key && keys.clientKeyNames == ["a"])
    #expect(keys.removeClientKey(named: "a") == key && keys.clientKeyNames == [])
    #expect(keys.names == ["a"])
  }

  @Test(arguments: [nil, "a passphrase"])
  func `a client's key file is private and created once`(passphrase: String?) async throws {
    let path = folder.file("keys/client.pem")
    let keys = try await withThrowingTaskGroup(of: ClientKey.self) { group in
      for _ in 0..<8 {
        group.addTask {
          try await KeyManager.makeClientKeyFile(at: path, passphrase: passphrase)
        }
      }
      return try await group.reduce(into: Set<ClientKey>()) { $0.insert($1) }
    }
    let key = try #require(keys.first)
    #expect(keys.count == 1 && key.algorithm == .es256)
    try folder.expectPrivate()
    let text = String(decoding: try folder.bytes("keys/client.pem"), as: UTF8.self)
    #expect(try ClientKey(pem: text, passphrase: passphrase) == key)
    #expect(text.contains("ENCRYPTED") == (passphrase != nil))
    let error = await failure(.wrongPassphrase) {
      try await KeyManager.makeClientKeyFile(at: path, passphrase: "another")
    }
    #expect(error?.message.contains(path) == true)
    await failure(.invalidConfiguration) {
      try await KeyManager.makeClientKeyFile(
        at: path, algorithm: .rs256, passphrase: passphrase)
    }
    #expect(try folder.bytes("keys/client.pem") == Data(text.utf8), "the key file is unchanged")
  }

  @Test func `a file that is not a client key is rejected and not changed`() async throws {
    let path = folder.file("client.pem")
    try folder.write("not a key", to: "client.pem")
    await failure(.invalidConfiguration) { try await KeyManager.makeClientKeyFile(at: path) }
    #expect(try folder.bytes("client.pem") == Data("not a key".utf8))
  }

  @Test func `several stores can use one key file`() async throws {
    let key = try await KeyManager.makeKeyFile(at: path)
    for name in ["one", "two"] {
      try await EncryptedFileTokenStore(path: folder.file(name), key: key).save(record(name))
    }
    for name in ["one", "two"] {
      let store = EncryptedFileTokenStore(path: folder.file(name), key: .file(path))
      #expect(try await store.load(name) == record(name))
    }
  }

  @Test func `processes that create a key file at the same time get the same key`() async throws {
    for round in 0..<10 {
      let folder = try TemporaryFolder()
      let probes = try (0..<4).map { _ in
        try StoreProbe.start(.encrypted, in: folder, ["make-key", folder.file("deep/key")])
      }
      var keys: Set<String> = []
      for probe in probes {
        let result = try await probe.result()
        #expect(result.status == 0, "\(result.errors)")
        keys.insert(result.output)
      }
      #expect(keys.count == 1, "round \(round)")
    }
  }

  @Test func `processes that create a store at the same time get the same key`() async throws {
    for _ in 0..<5 {
      let folder = try TemporaryFolder()
      let probes = try (0..<4).map { number in
        try StoreProbe.start(
          .encrypted, in: folder, ["save"], input: StoreProbe.input([record("\(number)")]))
      }
      for probe in probes {
        let result = try await probe.result()
        #expect(result.status == 0, "\(result.errors)")
      }
      #expect(try await StoreKind.encrypted.open(folder).list() == ["0", "1", "2", "3"])
    }
  }

  @Test func `an encrypted key file opens only with its passphrase and is not changed`()
    async throws
  {
    let key = try await KeyManager.makeKeyFile(at: path, passphrase: "right")
    try await store(key).save(record("a"))
    let before = try folder.bytes("keys/store.key")
    #expect(before.count > 32)
    for passphrase in ["wrong", "right ", nil] {
      let wrong = StoreKey.file(path, passphrase: passphrase)
      await failure(.wrongPassphrase) { try await store(wrong).load("a") }
      await failure(.wrongPassphrase) { try await store(wrong).save(record("a")) }
      await failure(.wrongPassphrase) {
        try await KeyManager.makeKeyFile(at: path, passphrase: passphrase)
      }
    }
    await failure(.invalidConfiguration) {
      try await store(.file(path, passphrase: "")).load("a")
    }
    #expect(try folder.bytes("keys/store.key") == before)
    #expect(try await store(.file(path, passphrase: "right")).load("a") == record("a"))
  }

  @Test func `an unencrypted key file is not accepted as an encrypted file`() async throws {
    _ = try await KeyManager.makeKeyFile(at: path)
    await failure(.wrongPassphrase) { try await store(.file(path, passphrase: "p")).prepare() }
  }

  @Test func `changing a key file's passphrase does not change its key`() async throws {
    let old = try await KeyManager.makeKeyFile(at: path)
    try await store(old).save(record("a"))
    let sealed = try await KeyManager.changePassphrase(ofKeyFileAt: path, from: nil, to: "one")
    #expect(try await store(sealed).load("a") == record("a"))
    await failure(.wrongPassphrase) { try await store(old).load("a") }
    await failure(.wrongPassphrase) {
      try await KeyManager.changePassphrase(ofKeyFileAt: path, from: "two", to: "three")
    }
    let again = try await KeyManager.changePassphrase(ofKeyFileAt: path, from: "one", to: "two")
    #expect(try await store(again).load("a") == record("a"))
    try folder.expectPrivate()
    _ = try await KeyManager.changePassphrase(ofKeyFileAt: path, from: "two", to: nil)
    #expect(try await store(old).load("a") == record("a"))
  }

  @Test func `a missing key file is an error, and no new file is created`() async throws {
    let key = try await KeyManager.makeKeyFile(at: path)
    try await store(key).save(record("a"))
    try FileManager.default.removeItem(atPath: path)
    let error = await failure(.storeFailed) { try await store(key).load("a") }
    #expect(error?.message.contains(path) == true)
    await failure(.storeFailed) { try await store(key).save(record("a")) }
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `a changed or truncated encrypted key file is detected`() async throws {
    let key = try await KeyManager.makeKeyFile(at: path, passphrase: "p")
    let whole = try folder.bytes("keys/store.key")
    // Key derivation makes each attempt slow, so the test changes only some of the bytes.
    let end = try #require(whole.firstIndex(of: UInt8(ascii: "\n")))
    for index in Array(stride(from: 0, to: end, by: 3)) + [end, end + 1, whole.count - 1] {
      var broken = whole
      broken[index] ^= 1
      try broken.write(to: URL(filePath: path))
      let error = await failure { try await store(key).prepare() }
      #expect([.storeDamaged, .storeTooNew].contains(error?.code), "byte \(index)")
    }
    for length in [0, 1, 31, 33, end, end + 1, whole.count - 1] {
      try whole.prefix(length).write(to: URL(filePath: path))
      let error = await failure { try await store(key).prepare() }
      #expect(error?.code == .storeDamaged, "length \(length)")
    }
    #expect(try folder.contents().filter { $0.hasPrefix("tokens") } == ["tokens.sealed.lock"])
  }

  @Test func `a symbolic link in place of a key file is rejected`() async throws {
    _ = try await KeyManager.makeKeyFile(at: folder.file("real.key"))
    let link = folder.file("link.key")
    try FileManager.default.createSymbolicLink(
      atPath: link, withDestinationPath: folder.file("real.key"))
    await failure(.storeFailed) { try await KeyManager.makeKeyFile(at: link) }
    try FileManager.default.removeItem(atPath: folder.file("real.key"))
    await failure(.storeFailed) { try await KeyManager.makeKeyFile(at: link) }
    #expect(!FileManager.default.fileExists(atPath: folder.file("real.key")))
  }

  private func store(_ key: StoreKey) -> EncryptedFileTokenStore {
    EncryptedFileTokenStore(path: folder.file("tokens.sealed"), key: key)
  }
}
