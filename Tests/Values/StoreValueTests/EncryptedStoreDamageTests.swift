import Foundation
import TestSupport
import Testing

@testable import SQBasics
@testable import SequencingOAuth

/// A changed encrypted file cannot be read, and stays as it is.
@Suite(.timeLimit(.minutes(3))) struct EncryptedStoreDamageTests {
  let folder: TemporaryFolder
  let path: String
  var store: EncryptedFileTokenStore { EncryptedFileTokenStore(path: path, key: .testKey) }

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("tokens.sealed")
  }

  @Test
  func `any changed byte is reported as damage or, in the version number, as a newer version`()
    async throws
  {
    try await fill()
    let whole = try folder.bytes("tokens.sealed")
    for index in whole.indices {
      for mask: UInt8 in [1, 0x20, 0x80] {
        var broken = whole
        broken[index] ^= mask
        let codes = try await codes(of: broken, alsoAsAFile: index.isMultiple(of: 100))
        let isVersion = whole.version == index
        for code in codes {
          #expect(
            code == .storeDamaged || isVersion && code == .storeTooNew, "byte \(index) ^ \(mask)")
        }
      }
    }
  }

  @Test func `a truncated or extended file is reported as damage`()
    async throws
  {
    try await fill()
    let whole = try folder.bytes("tokens.sealed")
    for length in 0..<whole.count {
      let codes = try await codes(of: whole.prefix(length), alsoAsAFile: length.isMultiple(of: 100))
      #expect(codes.allSatisfy { $0 == .storeDamaged }, "\(length) bytes")
    }
    for more in [Data([0]), Data("\n".utf8), Data(count: 4), Data(count: 32), whole] {
      let codes = try await codes(of: whole + more, alsoAsAFile: true)
      #expect(codes == [.storeDamaged, .storeDamaged])
    }
  }

  /// Returns the error code of the file format and, with `alsoAsAFile`, that of a store, which is
  /// slower.
  private func codes(
    of bytes: Data, alsoAsAFile: Bool
  ) async throws -> [SQOAuthError.Code?] {
    let error = failure { try SealedFormat(key: .testKey).decode(bytes) }
    guard alsoAsAFile else { return [error?.code] }
    try write(bytes)
    return [error?.code, await failure { try await store.load("a") }?.code]
  }

  @Test
  func `encrypted records that are moved, removed, doubled or foreign are reported as damage`()
    async throws
  {
    try await fill()
    let file = try SealedParts(folder.bytes("tokens.sealed"))
    try await store.save(record("a", token: SQToken(accessToken: "newer")))
    let newer = try SealedParts(folder.bytes("tokens.sealed"))
    let other = EncryptedFileTokenStore(path: folder.file("other"), key: .testKey)
    for id in ["a", "b", "c"] { try await other.save(record(id)) }
    let strange = try SealedParts(folder.bytes("other"))
    #expect(file.boxes.count == 4 && file.header == newer.header)

    let (a, b, c, seal) = (file.boxes[0], file.boxes[1], file.boxes[2], file.boxes[3])
    let changes: [(String, [Data])] = [
      ("swapped", [b, a, c, seal]), ("removed", [a, b, seal]), ("emptied", [seal]),
      ("doubled", [a, a, c, seal]), ("added", [a, b, c, c, seal]), ("no seal", [a, b, c]),
      ("older record", [newer.boxes[0], b, c, seal]),
      ("older seal", [a, b, c, newer.boxes[3]]),
      ("another store's", [strange.boxes[0], b, c, seal]),
      ("another store's boxes", strange.boxes),
    ]
    for (what, boxes) in changes {
      try write(SealedParts(header: file.header, boxes: boxes).bytes)
      let error = await failure { try await store.load("a") }
      #expect(error?.code == .storeDamaged, "\(what)")
    }
    try write(SealedParts(header: strange.header, boxes: file.boxes).bytes)
    await failure(.storeDamaged) { try await store.load("a") }
    try write(file.bytes)
    #expect(try await store.load("a") == record("a"))
  }

  /// No call overwrites a damaged store, which may contain a user's session.
  @Test(arguments: ["damaged", "cut off", "empty", "foreign", "newer", "wrong key"])
  func `no call changes a store that cannot be opened`(
    what: String
  ) async throws {
    try await fill()
    let whole = try folder.bytes("tokens.sealed")
    var key = StoreKey.testKey
    var code = SQOAuthError.Code.storeDamaged
    switch what {
    case "damaged": try write(whole.dropLast() + [whole[whole.endIndex - 1] ^ 1])
    case "cut off": try write(whole.dropLast(20))
    case "empty": try write(Data())
    case "foreign": try write(Data(#"{"version":1,"accounts":{}}"#.utf8))
    case "newer":
      var newer = whole
      newer[try #require(whole.version)] = UInt8(ascii: "2")
      try write(newer)
      code = .storeTooNew
    default: (key, code) = (.raw(Data(repeating: 9, count: 32)), .wrongPassphrase)
    }
    let before = try folder.bytes("tokens.sealed")
    let store = EncryptedFileTokenStore(path: path, key: key)
    let errors = [
      await failure(code) { try await store.load("a") },
      await failure(code) { try await store.list() },
      await failure(code) { try await store.all() },
      await failure(code) { try await store.save(record("a")) },
      await failure(code) { try await store.erase("a") },
      await failure(code) { try await store.prepare() },
      await failure(code) { try await store.changeKey(to: .passphrase("new")) },
    ]
    #expect(try folder.bytes("tokens.sealed") == before)
    for error in errors { #expect(error?.message.contains(path) == true) }
  }

  private func fill() async throws {
    for id in ["a", "b", "c"] { try await store.save(record(id)) }
  }

  private func write(_ bytes: Data) throws {
    try bytes.write(to: URL(filePath: path))
  }
}

extension Data {
  /// The index of the digit of the format's version.
  fileprivate var version: Index? {
    range(of: Data("\"version\":1".utf8)).map { $0.upperBound - 1 }
  }
}

/// The parts of an encrypted file, split by its documented layout and not by the code under test.
struct SealedParts {
  var header: Data
  var boxes: [Data] = []

  init(header: Data, boxes: [Data]) {
    (self.header, self.boxes) = (header, boxes)
  }

  init(_ bytes: Data) throws {
    let end = try #require(bytes.firstIndex(of: UInt8(ascii: "\n")))
    header = bytes[..<end]
    var rest = Array(bytes[end...].dropFirst())
    while !rest.isEmpty {
      let count = rest[0..<4].reduce(0) { $0 * 256 + Int($1) }
      boxes.append(Data(rest[4..<4 + count]))
      rest.removeFirst(4 + count)
    }
  }

  var bytes: Data {
    boxes.reduce(header + Data("\n".utf8)) { bytes, box in
      let count = box.count
      return bytes + [0, UInt8(count >> 16), UInt8(count >> 8 & 255), UInt8(count & 255)] + box
    }
  }
}
