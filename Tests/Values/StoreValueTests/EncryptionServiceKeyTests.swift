import Foundation
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

/// An app's encryption service with a `StoreKey`.
@Suite struct EncryptionServiceKeyTests {
  private static let text = Data("a session".utf8)

  @Test(arguments: [nil, "words"])
  func `a key file provides the service's key, and is created if it is missing`(
    passphrase: String?
  ) throws {
    let folder = try TemporaryFolder()
    let key = StoreKey.file(folder.file("key"), passphrase: passphrase)
    let box = try EncryptionService(key: key).seal(Self.text)
    #expect(try EncryptionService(key: key).open(box) == Self.text)
    guard passphrase == nil else { return }
    let bytes = try #require(FileManager.default.contents(atPath: folder.file("key")))
    #expect(try EncryptionService(key: bytes).open(box) == Self.text)
  }

  @Test
  func `an encryption service with a raw store key opens a text sealed with the same raw bytes`()
    throws
  {
    let bytes = Data(repeating: 7, count: 32)
    let box = try EncryptionService(key: bytes).seal(Self.text)
    #expect(try EncryptionService(key: .raw(bytes)).open(box) == Self.text)
    failure(.invalidConfiguration) { try EncryptionService(key: .raw(Data(count: 16))) }
  }

  @Test func `a passphrase without a key file is rejected`() {
    failure(.invalidConfiguration) { try EncryptionService(key: .passphrase("words")) }
  }
}
