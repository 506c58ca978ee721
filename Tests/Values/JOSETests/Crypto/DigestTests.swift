import Foundation
import Testing

@testable import SQBasics
@testable import SQCrypto
@testable import SequencingOAuth

@Suite struct DigestTests {
  /// - SeeAlso: FIPS 180-4, the examples of NIST
  @Test func `digests match the standard's examples`() {
    let text = Data("abc".utf8)
    #expect(
      Hexadecimal.encode(Digest.sha256(text))
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(
      Hexadecimal.encode(Digest.digest(text, by: .sha384))
        == "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed"
        + "8086072ba1e7cc2358baeca134c825a7")
    #expect(
      Hexadecimal.encode(Digest.digest(text, by: .sha512))
        == "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f")
    #expect(
      Hexadecimal.encode(Digest.digest(Data(), by: .sha384))
        .hasPrefix("38b060a751ac96384cd9327eb1b1e36a21fd"))
  }

  /// - SeeAlso: RFC 4231, sections 4.2, 4.3 and 4.7
  @Test(
    arguments: [
      (
        Data(repeating: 0x0B, count: 20), "Hi There", .sha256,
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
      ),
      (
        Data("Jefe".utf8), "what do ya want for nothing?", .sha384,
        "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e"
          + "8e2240ca5e69e2c78b3239ecfab21649"
      ),
      (
        Data(repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
        .sha512,
        "80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f352"
          + "6b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598"
      ),
    ] as [(Data, String, HashFunction, String)])
  func `HMACs match RFC 4231, and a wrong code, message or secret is rejected`(
    secret: Data, message: String, function: HashFunction, code: String
  ) throws {
    let message = Data(message.utf8)
    let expected = try #require(Hexadecimal.decode(code))
    #expect(HMAC.code(of: message, secret: secret, by: function) == expected)
    #expect(HMAC.isValid(expected, of: message, secret: secret, by: function))
    for wrong in [expected.dropLast(), expected + [0], Data(), Data(expected.reversed())] {
      #expect(!HMAC.isValid(wrong, of: message, secret: secret, by: function))
    }
    #expect(!HMAC.isValid(expected, of: message + [0], secret: secret, by: function))
    #expect(!HMAC.isValid(expected, of: message, secret: Data(), by: function))
  }
}
