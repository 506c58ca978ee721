import CSQCrypto
import Foundation
import Testing

@testable import SQCrypto

/// What OpenSSL offers in this process; other configurations are tested in processes of their own.
@Suite struct OpenSSLTests {
  @Test func `OpenSSL has all algorithms, and the text about a missing one names OPENSSL_CONF`() {
    #expect(OpenSSL.lack() == nil)
    for kind in [PublicKey.Kind.rsa, .ellipticCurve(.p521), .ed25519] {
      #expect(OpenSSL.lack(kind.algorithm) == nil)
    }
    #expect(OpenSSL.lack(.derivation("SCRYPT")) == nil)
    for algorithm in [
      OpenSSL.Algorithm.digest("x9"), .asymmetric("x9"), .cipher("x9"), .random("x9"),
    ] {
      let text = OpenSSL.lack(algorithm) ?? ""
      #expect(text.contains("x9") && text.contains("OPENSSL_CONF"))
    }
    #expect(OpenSSL.explained("it failed") == "it failed")
    #expect(OpenSSL.explained("it failed", needing: .asymmetric("x9")).hasPrefix("it failed: "))
  }

  @Test(arguments: [HashFunction.sha256, .sha384, .sha512])
  func `a hash function has a fallback that does not depend on OpenSSL's configuration`(
    function: HashFunction
  ) {
    #expect(function.ownImplementation != nil)
    #expect(function.ownImplementation != function.implementation)
  }

  /// The vector of RFC 5869, appendix A.3; an empty buffer of Swift may have no address.
  @Test func `HKDF takes an empty salt and empty information that have no address`() {
    let key = [UInt8](repeating: 0x0B, count: 22)
    var output = [UInt8](repeating: 0, count: 42)
    #expect(sq_hkdf_sha256(key, key.count, nil, 0, nil, 0, &output, output.count) == 1)
    #expect(
      Hexadecimal.encode(output)
        == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8")
  }

  @Test func `failed calls of a cipher or a derivation leave no error in OpenSSL's queue`() throws {
    ERR_clear_error()
    #expect(throws: CryptoFailure.self) {
      // It would need 16 GiB.
      try KeyDerivation.scrypt(
        "passphrase", salt: Data(count: 16), cost: 1 << 24, blockSize: 8, parallelism: 1, count: 32)
    }
    #expect(throws: CryptoFailure.self) {
      try KeyDerivation.hkdf(Data(count: 32), salt: Data(), info: Data(), count: 255 * 32 + 1)
    }
    let cipher = try CipherContext(
      key: Data(count: 32), nonce: Data(count: 12), isEncrypting: false)
    #expect(throws: CryptoFailure.self) { try cipher.expect(tag: Data(count: 17)) }
    #expect(throws: CryptoFailure.self) { _ = try cipher.tag() }
    #expect(!cipher.finish())
    #expect(ERR_peek_error() == 0)
  }
}
