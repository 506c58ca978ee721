import Foundation
import TestSupport
import Testing

@testable import SQBasics
@testable import SQCrypto
@testable import SequencingOAuth

/// The format of the encrypted stores: a header, and a sealed box for each record.
@Suite struct RecordSealerTests {
  static let raw = StoreKey.raw(Data(repeating: 7, count: 32))
  static let keys: [StoreKey] = [raw, .quickPassphrase("correct horse")]

  @Test(arguments: keys)
  func `an encrypted record is decrypted with the same key and the stored header`(key: StoreKey)
    throws
  {
    let sealer = try RecordSealer.make(key)
    let box = try sealer.seal(record("a"))
    #expect(try sealer.open(box, id: "a") == record("a"))
    #expect(try RecordSealer(key, header: sealer.header).open(box, id: "a") == record("a"))
  }

  @Test func `an encrypted record cannot be decrypted for another account or another store`() throws
  {
    let sealer = try RecordSealer.make(Self.raw)
    let box = try sealer.seal(record("a"))
    failure(.storeDamaged) { try sealer.open(box, id: "b") }
    failure(.storeDamaged) { try RecordSealer.make(Self.raw).open(box, id: "a") }
  }

  @Test func `a record is encrypted differently each time, and two stores get different headers`()
    throws
  {
    let sealer = try RecordSealer.make(Self.raw)
    let boxes = try (0..<100).map { _ in try sealer.seal(record("a")) }
    #expect(Set(boxes).count == boxes.count)
    #expect(Set(boxes.map { $0.prefix(12) }).count == boxes.count, "each has its own nonce")
    #expect(try RecordSealer.make(Self.raw).header != sealer.header)
  }

  @Test(arguments: keys)
  func `a wrong key is detected with the header alone`(key: StoreKey) throws {
    let header = try RecordSealer.make(key).header
    for other in [
      StoreKey.raw(Data(repeating: 8, count: 32)), .passphrase("correct hors"),
      .passphrase("correct horse "),
    ] {
      failure(.wrongPassphrase) { try RecordSealer(other, header: header) }
    }
  }

  @Test func `an empty or short key is rejected`() {
    for key in [StoreKey.passphrase(""), .raw(Data()), .raw(Data(count: 31))] {
      failure(.invalidConfiguration) { try RecordSealer.make(key) }
    }
  }

  /// Damage at any place is distinguished from a wrong passphrase.
  @Test func `a changed byte of the header is detected`() throws {
    let header = try RecordSealer.make(Self.raw).header
    for index in header.indices {
      for mask: UInt8 in [1, 0x20, 0x80] {
        var broken = header
        broken[index] ^= mask
        let error = failure { try RecordSealer(Self.raw, header: broken) }
        #expect([.storeDamaged, .storeTooNew].contains(error?.code), "byte \(index) ^ \(mask)")
      }
    }
    for length in 0..<header.count {
      failure(.storeDamaged) { try RecordSealer(Self.raw, header: header.prefix(length)) }
    }
  }

  @Test func `a header of a newer version has its own error`() throws {
    let header = try RecordSealer.make(Self.raw).header
    let text = String(decoding: header, as: UTF8.self)
    let newer = text.replacing("\"version\":1", with: "\"version\":2")
    #expect(newer != text)
    failure(.storeTooNew) { try RecordSealer(Self.raw, header: Data(newer.utf8)) }
    failure(.storeTooNew) {
      try RecordSealer(Self.raw, header: Data(#"{"version":7,"new":"field"}"#.utf8))
    }
  }

  /// A header must not make the program use all memory or a year of time, so the program does not
  /// try these parameters.
  @Test(arguments: [
    KeyDerivation.scrypt(cost: 1 << 15, blockSize: 8, parallelism: 3, salt: Data(count: 15)),
    .scrypt(cost: 1 << 15, blockSize: 8, parallelism: 3, salt: Data()),
    .scrypt(cost: 1 << 15, blockSize: 8, parallelism: 3, salt: Data(count: 1 << 20)),
    .scrypt(cost: 1 << 20, blockSize: 8, parallelism: 1, salt: Data(count: 32)),
    .scrypt(cost: 1 << 40, blockSize: 8, parallelism: 1, salt: Data(count: 32)),
    .scrypt(cost: .max, blockSize: .max, parallelism: .max, salt: Data(count: 32)),
    .scrypt(cost: .min, blockSize: 8, parallelism: 1, salt: Data(count: 32)),
    .scrypt(cost: 1 << 15, blockSize: 8, parallelism: 1 << 20, salt: Data(count: 32)),
    .scrypt(cost: 1 << 15, blockSize: 1 << 20, parallelism: 1, salt: Data(count: 32)),
    .scrypt(cost: 40_000, blockSize: 8, parallelism: 3, salt: Data(count: 32)),
    .scrypt(cost: 1 << 10, blockSize: 8, parallelism: 3, salt: Data(count: 32)),
    .scrypt(cost: 1 << 15, blockSize: 0, parallelism: 0, salt: Data(count: 32)),
    .hkdf(salt: Data(count: 15)),
  ])
  func `a header with unreasonable key derivation parameters is rejected as damaged`(
    derivation: KeyDerivation
  ) throws {
    let header = try SealHeaderFields(derivation, verifier: Data(count: 32), version: 1).encoded()
    failure(.storeDamaged) { try RecordSealer(.passphrase("p"), header: header) }
    failure(.storeDamaged) { try RecordSealer(Self.raw, header: header) }
  }

  @Test func `a header with key derivation parameters at the lower bounds is accepted`() throws {
    let derivation = KeyDerivation.scrypt(
      cost: 1 << 14, blockSize: 8, parallelism: 1, salt: Data(count: 16))
    let header = try SealHeaderFields(derivation, verifier: Data(count: 32), version: 1).encoded()
    failure(.wrongPassphrase) { try RecordSealer(.passphrase("p"), header: header) }
  }
}
