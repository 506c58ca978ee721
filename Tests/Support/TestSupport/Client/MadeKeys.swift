import Testing

@testable import SQBasics
@testable import SQCrypto
@testable import SequencingOAuth

/// Client keys for tests.
///
/// RSA keys are shared, because a new one takes a tenth of a second.
enum MadeKeys {
  /// The algorithms with which a client can sign.
  static let algorithms = JWSAlgorithm.allCases.filter { !$0.isSymmetric }

  private static let rsa = Result { try ClientKey(generating: .rs256).pem() }

  /// Returns a key for an algorithm.
  ///
  /// All tests share one key for all RSA algorithms.
  static func key(for algorithm: JWSAlgorithm) throws -> ClientKey {
    algorithm.keyType == .rsa
      ? try ClientKey(pem: rsa.get(), algorithm: algorithm)
      : try ClientKey(generating: algorithm)
  }

  /// Verifies a signed text with the public key that the server gets, and returns its claims.
  static func claims(of text: String, by key: ClientKey) throws -> [String: JSONValue] {
    let signed = try CompactJWS(text)
    #expect(signed.keyID == key.keyID && signed.type == "JWT")
    try signed.verify(
      with: .of([try #require(key.publicJWK)]), algorithm: key.algorithm)
    return try signed.claims()
  }
}
