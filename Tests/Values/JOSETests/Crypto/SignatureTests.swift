import CSQCrypto
import Foundation
import Testing

@testable import SQCrypto
@testable import SequencingOAuth
@testable import TestSupport

@Suite struct SignatureTests {
  private struct Sample {
    let key: PublicKey
    let text: CompactJWS

    init(_ algorithm: JWSAlgorithm) throws {
      let vector = try SignedVectors.one(algorithm)
      key = try #require(vector.key.flatMap(JSONWebKey.init)).publicKey
      text = try CompactJWS(vector.jws)
    }

    func isValid(_ signature: Data? = nil, by scheme: SignatureScheme) -> Bool {
      key.isValid(signature ?? text.signature, of: text.signingInput, by: scheme)
    }
  }

  private static let schemes = JWSAlgorithm.allCases.compactMap(\.scheme)

  @Test(arguments: JWSAlgorithm.allCases.filter { !$0.isSymmetric })
  func `a signature is valid with one scheme only`(algorithm: JWSAlgorithm) throws {
    let sample = try Sample(algorithm)
    let valid = Self.schemes.filter { sample.isValid(by: $0) }
    #expect(valid == [try #require(algorithm.scheme)])
  }

  /// The orders of the curves.
  ///
  /// - SeeAlso: FIPS 186-4, appendix D.1.2
  private static let orders = [
    "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
    "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf"
      + "581a0db248b0a77aecec196accc52973",
    "01ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
      + "fa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409",
  ]

  @Test(arguments: zip([JWSAlgorithm.es256, .es384, .es512], orders))
  func `an ECDSA signature whose r or s is zero or not below the order is invalid`(
    algorithm: JWSAlgorithm, order: String
  ) throws {
    let sample = try Sample(algorithm)
    let scheme = try #require(algorithm.scheme)
    let order = try #require(Hexadecimal.decode(order))
    let half = sample.text.signature.count / 2
    #expect(order.count == half && sample.isValid(by: scheme))
    let r = sample.text.signature.prefix(half)
    let s = sample.text.signature.suffix(half)
    let outside = [Data(count: half), order, Data(repeating: 0xFF, count: half)]
    for number in outside {
      #expect(!sample.isValid(number + s, by: scheme))
      #expect(!sample.isValid(r + number, by: scheme))
      #expect(!sample.isValid(number + number, by: scheme))
    }
    #expect(!sample.isValid(s + r, by: scheme))
    #expect(!sample.isValid(r + [0] + s.dropFirst(), by: scheme))
  }

  @Test func `an ECDSA signature in DER is rejected`() throws {
    let sample = try Sample(.es256)
    let signature = sample.text.signature
    func number(_ bytes: Data) -> Data {
      let bytes = bytes.first.map { $0 > 0x7F ? [0] + bytes : bytes } ?? bytes
      return [0x02, UInt8(bytes.count)] + bytes
    }
    let numbers = number(signature.prefix(32)) + number(signature.suffix(32))
    let form: Data = [0x30, UInt8(numbers.count)] + numbers
    #expect(!sample.isValid(form, by: .ecdsa(.p256, .sha256)))
  }

  @Test(arguments: JWSAlgorithm.allCases.filter { !$0.isSymmetric })
  func `a failed verification leaves no error in OpenSSL's error queue`(algorithm: JWSAlgorithm)
    throws
  {
    let sample = try Sample(algorithm)
    ERR_clear_error()
    for scheme in Self.schemes {
      for count in [0, 1, 64, 132, 256, 1_000] {
        #expect(!sample.isValid(Data(repeating: 0x5A, count: count), by: scheme))
      }
    }
    #expect(PublicKey(curve: .p256, x: Data(count: 32), y: Data(count: 32)) == nil)
    #expect(ERR_peek_error() == 0)
    // An earlier error in OpenSSL's queue belongs to another caller, so it must stay there.
    let before = Self.raiseError()
    #expect(before != 0)
    #expect(!sample.isValid(Data(), by: Self.schemes[0]))
    #expect(!sample.isValid(Data(repeating: 0x5A, count: 64), by: .ed25519))
    #expect(ERR_peek_last_error() == before)
    ERR_clear_error()
  }

  /// Makes OpenSSL fail, and returns the error in its queue.
  private static func raiseError() -> UInt {
    _ = EVP_MD_fetch(nil, "NO-SUCH-DIGEST", nil)
    return ERR_peek_last_error()
  }
}
