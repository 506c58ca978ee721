import Foundation
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

/// The secrecy of an encrypted file, and the keys that open it.
@Suite(.timeLimit(.minutes(3))) struct EncryptedStoreTests {
  let folder: TemporaryFolder
  let path: String
  static let passphrase = StoreKey.quickPassphrase("correct horse \u{1F600}")

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("tokens.sealed")
  }

  func store(_ key: StoreKey = .testKey) -> EncryptedFileTokenStore {
    EncryptedFileTokenStore(path: path, key: key)
  }

  @Test(arguments: [
    StoreKey.testKey, passphrase,
    .file(FileManager.default.temporaryDirectory.path + "/sq-test-key-\(UUID())"),
  ])
  func `records can be read with the same key`(key: StoreKey) async throws {
    try await store(key).save(record("a"))
    #expect(try await store(key).load("a") == record("a"))
    if case let name = key.description, name.hasPrefix("the key file ") {
      let file = String(name.dropFirst("the key file ".count))
      for suffix in ["", ".lock"] { try FileManager.default.removeItem(atPath: file + suffix) }
    }
  }

  @Test func `an account may have a long name`() async throws {
    let id = String(repeating: "a", count: 100_000)
    for name in [id, "b"] { try await store().save(record(name)) }
    #expect(try await store().load(id) == record(id))
    let reservation = try await store().reserve(id, replacing: record(id))
    await reservation.writeAhead(record(id, token: SQToken(accessToken: "new")))
    #expect(try await store().load(id)?.token.accessToken == "new")
    try await store().erase(id)
    #expect(try await store().list() == ["b"])
  }

  @Test func `the file shows no token and no account's name`() async throws {
    let token = SQToken(
      accessToken: "C4N4RY-access", scope: "C4N4RY-scope", refreshToken: "C4N4RY-refresh",
      additionalFields: ["id_token": .string("C4N4RY-id")])
    try await store().save(
      AccountRecord(
        id: "C4N4RY-account", clientID: "C4N4RY-client", token: token,
        attributes: ["C4N4RY": "C4N4RY"]))
    for name in try folder.contents() where !name.hasSuffix(".locks") {
      let bytes = try folder.bytes(name)
      for text in ["C4N4RY", "access_token", "access", "refresh"] {
        #expect(bytes.range(of: Data(text.utf8)) == nil)
        #expect(bytes.range(of: Data(text.utf8).base64EncodedData().prefix(8)) == nil)
      }
    }
  }

  @Test func `a record that is saved twice has different bytes`() async throws {
    try await store().save(record("a"))
    let first = try SealedParts(folder.bytes("tokens.sealed"))
    try await store().save(record("a"))
    let second = try SealedParts(folder.bytes("tokens.sealed"))
    #expect(first.header == second.header)
    #expect(first.boxes.count == 2 && second.boxes.count == 2, "the account and the seal")
    for (one, two) in zip(first.boxes, second.boxes) {
      #expect(one.prefix(12) != two.prefix(12), "the nonce differs")
      #expect(one.dropFirst(12) != two.dropFirst(12))
    }
  }

  struct Header: Decodable {
    struct Derivation: Decodable {
      let name, salt: String
      let n, r, p: Int?
    }
    let version: Int
    let kdf: Derivation
    let verifier: String
  }

  @Test
  func `two stores with one passphrase use the full scrypt cost and have different salts and keys`()
    async throws
  {
    var headers: [Header] = []
    for name in ["one", "two"] {
      let store = EncryptedFileTokenStore(
        path: folder.file(name), key: .passphrase("correct horse"))
      try await store.save(record("a"))
      let parts = try SealedParts(folder.bytes(name))
      headers.append(try JSONDecoder().decode(Header.self, from: parts.header))
    }
    for header in headers {
      #expect(header.version == 1 && header.kdf.name == "scrypt")
      #expect(header.kdf.salt.count >= 2 * 16, "two digits a byte")
      #expect((header.kdf.n ?? 0) >= 1 << 15 && header.kdf.r == 8 && (header.kdf.p ?? 0) >= 3)
    }
    #expect(headers[0].kdf.salt != headers[1].kdf.salt)
    #expect(headers[0].verifier != headers[1].verifier, "so the keys differ too")
  }

  @Test(arguments: [true, false])
  func `a wrong passphrase is rejected, with or without records`(isEmpty: Bool) async throws {
    let right = store(Self.passphrase)
    if isEmpty { try await right.prepare() } else { try await right.save(record("a")) }
    let before = try folder.bytes("tokens.sealed")
    let others = [
      StoreKey.passphrase("correct horse"), .passphrase("correct horse \u{1F600} "), .testKey,
    ]
    for key in others {
      await failure(.wrongPassphrase) { try await store(key).prepare() }
      await failure(.wrongPassphrase) { try await store(key).load("a") }
      await failure(.wrongPassphrase) { try await store(key).list() }
    }
    await failure(.wrongPassphrase) { try await store(others[0]).save(record("a")) }
    #expect(try folder.bytes("tokens.sealed") == before)
    #expect(try await store(Self.passphrase).list() == (isEmpty ? [] : ["a"]))
  }

  @Test func `a store whose last record was erased still rejects another key`() async throws {
    try await store().save(record("a"))
    try await store().erase("a")
    #expect(try await store().list() == [])
    await failure(.wrongPassphrase) {
      try await store(.raw(Data(repeating: 8, count: 32))).list()
    }
  }

  @Test(arguments: [StoreKey.passphrase(""), .raw(Data()), .raw(Data(count: 33))])
  func `an invalid key creates no store`(key: StoreKey) async throws {
    await failure(.invalidConfiguration) { try await store(key).prepare() }
    await failure(.invalidConfiguration) { try await store(key).save(record("a")) }
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `the stores of two services have different files`() throws {
    let one = try EncryptedFileTokenStore(service: "one")
    #expect(one.path.hasSuffix("/one/tokens.sealed"))
    #expect(try EncryptedFileTokenStore(service: "two").path != one.path)
    failure(.invalidConfiguration) { try EncryptedFileTokenStore(service: "../one") }
  }

  @Test func `no printed text contains a key`() throws {
    let keys: [Any] = [
      StoreKey.passphrase("C4N4RY"), StoreKey.raw(Data("C4N4RY".utf8)),
      StoreKey.file("store.key", passphrase: "C4N4RY"),
      EncryptedFileTokenStore(path: path, key: .passphrase("C4N4RY")),
      try EncryptionService(key: Data(repeating: 67, count: 32)),
    ]
    for key in keys {
      var dumped = ""
      dump(key, to: &dumped)
      let text = "\(key) \(String(reflecting: key)) \(dumped)"
      #expect(!text.contains("C4N4RY") && !text.contains("67, 67") && !text.contains("Q0NDQ"))
    }
  }
}
