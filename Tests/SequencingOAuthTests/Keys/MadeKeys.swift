@testable import SequencingOAuth

/// Keys of clients that may be the same in all tests, since a new RSA key takes a tenth of a second.
enum MadeKeys {
  private static let rsa = Result { try ClientKey(generating: .rs256).pem() }

  /// A key for an algorithm; one with RSA is the same for all algorithms and tests.
  static func key(for algorithm: JWSAlgorithm) throws -> ClientKey {
    algorithm.keyType == .rsa
      ? try ClientKey(pem: rsa.get(), algorithm: algorithm)
      : try ClientKey(generating: algorithm)
  }
}
