import Testing

@testable import SQBasics
@testable import SQCrypto
@testable import SequencingOAuth

/// Keys of clients that may be the same in all tests, since a new RSA key takes a tenth of a second.
enum MadeKeys {
  /// The algorithms by which a client can sign.
  static let algorithms = JWSAlgorithm.allCases.filter { !$0.isSymmetric }

  private static let rsa = Result { try ClientKey(generating: .rs256).pem() }

  /// A key for an algorithm; one with RSA is the same for all algorithms and tests.
  static func key(for algorithm: JWSAlgorithm) throws -> ClientKey {
    algorithm.keyType == .rsa
      ? try ClientKey(pem: rsa.get(), algorithm: algorithm)
      : try ClientKey(generating: algorithm)
  }

  /// Verifies what a key signs, by what the server gets of the key.
  static func claims(of text: String, by key: ClientKey) throws -> [String: JSONValue] {
    let signed = try CompactJWS(text)
    #expect(signed.keyID == key.keyID && signed.type == "JWT")
    try signed.verify(
      with: .of([try #require(key.publicJWK)]), algorithm: key.algorithm)
    return try signed.claims()
  }
}
