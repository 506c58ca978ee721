import Foundation
import Testing

@testable import SQCrypto
@testable import SequencingOAuth
@testable import TestSupport

@Suite struct PublicKeyTests {
  private static func member(_ name: String, _ algorithm: JWSAlgorithm) throws -> Data {
    try #require(SignedVectors.one(algorithm).key[name].string.flatMap(Base64URL.decode))
  }

  @Test func `an RSA key may have leading zeros in its numbers`() throws {
    let modulus = try Self.member("n", .rs256)
    for zeros in [Data(), Data(count: 1), Data(count: 300)] {
      let key = PublicKey(rsaModulus: zeros + modulus, exponent: zeros + [1, 0, 1])
      #expect(key?.bits == 2048 && key?.isWeak == false)
    }
  }

  @Test(arguments: [2047, 1024, 512])
  func `an RSA key of less than 2048 bits is weak`(bits: Int) throws {
    var modulus = Data(repeating: 0xFF, count: (bits + 7) / 8)
    if bits % 8 != 0 { modulus[0] = 0xFF >> UInt8(8 - bits % 8) }
    let key = try #require(PublicKey(rsaModulus: modulus, exponent: Data([3])))
    #expect(key.bits == bits && key.isWeak)
  }

  @Test(arguments: [
    Data(), Data([0]), Data([1]), Data([2]), Data([0, 1]), Data([1, 0, 0]),
    Data(repeating: 0xFF, count: 9),
  ])
  func `an exponent that is even, below 3 or very long is rejected`(exponent: Data) throws {
    #expect(PublicKey(rsaModulus: try Self.member("n", .rs256), exponent: exponent) == nil)
  }

  @Test func `a modulus that is even, zero or very long is rejected`() {
    let moduli = [
      Data(), Data(count: 256), Data(repeating: 0xFE, count: 256),
      Data(repeating: 0xFF, count: 2049),
    ]
    for modulus in moduli {
      #expect(PublicKey(rsaModulus: modulus, exponent: Data([1, 0, 1])) == nil)
    }
  }

  @Test(
    arguments: [(.p256, .es256), (.p384, .es384), (.p521, .es512)]
      as [(EllipticCurve, JWSAlgorithm)])
  func `a point that is not on the curve or has a wrong length is rejected`(
    curve: EllipticCurve, algorithm: JWSAlgorithm
  ) throws {
    let x = try Self.member("x", algorithm)
    let y = try Self.member("y", algorithm)
    let zero = Data(count: curve.coordinateSize)
    let largest = Data(repeating: 0xFF, count: curve.coordinateSize)
    var beside = y
    beside[beside.count - 1] ^= 1
    #expect(PublicKey(curve: curve, x: x, y: y)?.isWeak == false)
    let others = [
      (x, beside), (y, x), (x, x), (zero, zero), (x, zero), (zero, y), (x, largest), (largest, y),
      ([0] + x, y), (x, [0] + y), (x.dropFirst(), y), (x, y.dropLast()), (Data(), Data()),
    ]
    for (x, y) in others {
      #expect(PublicKey(curve: curve, x: x, y: y) == nil)
    }
    for other in EllipticCurve.allCases where other != curve {
      #expect(PublicKey(curve: other, x: x, y: y) == nil)
    }
  }

  @Test(arguments: [0, 31, 33, 57])
  func `an Ed25519 key whose length is not 32 bytes is rejected`(count: Int) {
    #expect(PublicKey(ed25519: Data(count: count)) == nil)
  }
}
