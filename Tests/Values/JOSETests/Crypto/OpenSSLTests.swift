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
}
