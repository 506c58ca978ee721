import Foundation
import Testing

@testable import SQCrypto
@testable import SequencingOAuth

/// Texts that other programs signed, with their keys.
struct SignedVectors: Decodable {
  struct Vector: Decodable, Sendable, CustomTestStringConvertible {
    let source: String
    let algorithm: JWSAlgorithm
    let key: JSONValue?
    private let secret: String?
    let jws: String

    private enum CodingKeys: CodingKey {
      case source
      case algorithm
      case key
      case secret
      case jws
    }

    init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      source = try values.decode(String.self, forKey: .source)
      algorithm = try #require(
        JWSAlgorithm(rawValue: values.decode(String.self, forKey: .algorithm)))
      key = try values.decodeIfPresent(JSONValue.self, forKey: .key)
      secret = try values.decodeIfPresent(String.self, forKey: .secret)
      jws = try values.decode(String.self, forKey: .jws)
    }

    var testDescription: String { "\(algorithm.rawValue) of \(source)" }

    /// Verifies the signed text `jws`, or `other` instead if it is not `nil`.
    func verify(_ other: String? = nil, as algorithm: JWSAlgorithm? = nil) throws {
      let text = try CompactJWS(other ?? jws)
      let algorithm = algorithm ?? self.algorithm
      if let key {
        try text.verify(with: .of([key]), algorithm: algorithm)
      } else {
        let secret = try #require(secret.flatMap(Base64URL.decode))
        try text.verify(secret: secret, algorithm: algorithm)
      }
    }
  }

  struct Confused: Decodable {
    /// The public key as a text, which is also the shared secret of the signed text.
    let publicKey: String
    let key: JSONValue
    let jws: String
  }

  let signed: [Vector]
  let weak: [Vector]
  let confused: Confused

  static let all = Result { try TestVectors.read("SignedTexts.json") as SignedVectors }

  /// The texts that were signed with strong keys, for the tables of tests.
  ///
  /// It is empty if the file cannot be read.
  static let signed = (try? all.get().signed) ?? []

  /// Returns a text that joserfc signed with the algorithm.
  static func one(_ algorithm: JWSAlgorithm) throws -> Vector {
    try #require(
      all.get().signed.first { $0.algorithm == algorithm && $0.source.hasPrefix("joserfc") })
  }
}

extension JSONValue {
  /// Returns the object with changed members.
  func with(_ members: [String: JSONValue?]) -> JSONValue {
    var object = self.object ?? [:]
    for (name, value) in members { object[name] = value }
    return .object(object)
  }
}
