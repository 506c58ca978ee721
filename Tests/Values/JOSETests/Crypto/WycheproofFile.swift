import Foundation
import Testing

@testable import SQCrypto
@testable import SequencingOAuth
@testable import TestSupport

/// A file of Project Wycheproof with signatures to verify.
struct WycheproofFile: Decodable {
  struct Case {
    let key: PublicKey
    let id: Int
    let comment: String
    let message: Data
    let signature: Data
    let result: String
  }

  private struct Group: Decodable {
    let publicKey: [String: JSONValue]
    let tests: [Vector]
  }

  private struct Vector: Decodable {
    let tcId: Int
    let comment: String
    let msg: String
    let sig: String
    let result: String
  }

  private let testGroups: [Group]

  static func cases(_ name: String) throws -> [Case] {
    let file: WycheproofFile = try TestVectors.read("Wycheproof/\(name)_test.json")
    return try file.testGroups.flatMap { group in
      let publicKey = try #require(Self.key(group.publicKey))
      return try group.tests.map { vector in
        Case(
          key: publicKey, id: vector.tcId, comment: vector.comment,
          message: try #require(Hexadecimal.decode(vector.msg)),
          signature: try #require(Hexadecimal.decode(vector.sig)), result: vector.result)
      }
    }
  }

  private static func key(_ members: [String: JSONValue]) -> PublicKey? {
    func bytes(_ name: String) -> Data? { members[name].string.flatMap(Hexadecimal.decode) }
    if let key = bytes("pk") { return PublicKey(ed25519: key) }
    if let modulus = bytes("modulus"), let exponent = bytes("publicExponent") {
      return PublicKey(rsaModulus: modulus, exponent: exponent)
    }
    let curves = ["secp256r1": EllipticCurve.p256, "secp384r1": .p384, "secp521r1": .p521]
    guard let curve = members["curve"].string.flatMap({ curves[$0] }), let x = bytes("wx"),
      let y = bytes("wy")
    else { return nil }
    let size = curve.coordinateSize
    return PublicKey(curve: curve, x: x.padded(to: size), y: y.padded(to: size))
  }
}

extension Data {
  /// Adds or removes leading zeros, so that the number has `size` bytes.
  fileprivate func padded(to size: Int) -> Data {
    Data(count: Swift.max(0, size - count)) + suffix(size)
  }
}
