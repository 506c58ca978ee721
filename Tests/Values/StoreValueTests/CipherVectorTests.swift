import Foundation
import TestSupport
import Testing

@testable import SQCrypto
@testable import SequencingOAuth

/// The published test vectors of the ciphers and key functions that the stores use.
@Suite struct CipherVectorTests {
  struct Box: Sendable {
    let key: String
    let nonce: String
    let plaintext: String
    let context: String
    let ciphertext: String
    let tag: String
  }

  private static let key = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"
  private static let nonce = "cafebabefacedbaddecaf888"
  private static let plaintext =
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
    + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
  private static let ciphertext =
    "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
    + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
  private static let zeros = String(repeating: "00", count: 32)

  /// McGrew and Viega, The Galois/Counter Mode of Operation, test cases 13 to 16.
  static let boxes = [
    Box(
      key: zeros, nonce: String(zeros.prefix(24)), plaintext: "", context: "", ciphertext: "",
      tag: "530f8afbc74536b9a963b4f1c4cb738b"),
    Box(
      key: zeros, nonce: String(zeros.prefix(24)), plaintext: String(zeros.prefix(32)),
      context: "", ciphertext: "cea7403d4d606b6e074ec5d3baf39d18",
      tag: "d0d1c8a799996bf0265b98b5d48ab919"),
    Box(
      key: key, nonce: nonce, plaintext: plaintext + "1aafd255", context: "",
      ciphertext: ciphertext + "898015ad", tag: "b094dac5d93471bdec1a502270e3cc6c"),
    Box(
      key: key, nonce: nonce, plaintext: plaintext,
      context: "feedfacedeadbeeffeedfacedeadbeefabaddad2", ciphertext: ciphertext,
      tag: "76fc6ece0f4e1768cddf8853bb2d551b"),
  ]

  @Test(arguments: boxes)
  func `the GCM specification's vectors decrypt, and changed vectors are rejected`(box: Box) throws
  {
    let service = try EncryptionService(key: bytes(box.key))
    let sealed = try bytes(box.nonce + box.ciphertext + box.tag)
    let context = try bytes(box.context)
    #expect(try service.open(sealed, authenticating: context) == bytes(box.plaintext))
    for index in sealed.indices {
      var broken = sealed
      broken[index] ^= 1
      failure(.storeDamaged) { try service.open(broken, authenticating: context) }
    }
    failure(.storeDamaged) { try service.open(sealed, authenticating: context + [0]) }
  }

  /// RFC 7914, section 12, without the vector that takes a gigabyte of memory.
  @Test(arguments: [
    (
      "", "", 16, 1, 1,
      "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442"
        + "fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906"
    ),
    (
      "password", "NaCl", 1024, 8, 16,
      "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
        + "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640"
    ),
    (
      "pleaseletmein", "SodiumChloride", 16_384, 8, 1,
      "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
        + "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887"
    ),
  ])
  func `scrypt derives the keys of RFC 7914`(
    passphrase: String, salt: String, cost: Int, blockSize: Int, parallelism: Int, key: String
  ) throws {
    let derived = try KeyDerivation.scrypt(
      passphrase, salt: Data(salt.utf8), cost: cost, blockSize: blockSize,
      parallelism: parallelism, count: 64)
    #expect(derived == (try bytes(key)))
  }

  /// RFC 5869, appendix A.1.
  @Test func `HKDF derives the key of RFC 5869`() throws {
    let derived = try KeyDerivation.hkdf(
      bytes(String(repeating: "0b", count: 22)), salt: bytes("000102030405060708090a0b0c"),
      info: bytes("f0f1f2f3f4f5f6f7f8f9"), count: 42)
    #expect(
      derived
        == (try bytes(
          "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865")))
  }

  private func bytes(_ digits: String) throws -> Data {
    try #require(Hexadecimal.decode(digits))
  }
}
