import SQCrypto
import SQFoundation

/// The verification of signatures, only by algorithms that the caller allows.
extension CompactJWS {
  /// Verifies the signature with a public key of the set.
  ///
  /// The text is rejected if its header names an algorithm other than the caller's, so that no
  /// header can turn a public key into a shared secret.
  ///
  /// - SeeAlso: RFC 8725, sections 2.1 and 3.1
  func verify(
    with keys: JSONWebKeySet, algorithm: JWSAlgorithm
  ) throws(JWSFailure) {
    try require(algorithm)
    guard let scheme = algorithm.scheme else { throw .noKey }
    let fitting = keys.keys(for: self, algorithm)
    guard !fitting.isEmpty else { throw .noKey }
    let strong = fitting.filter { !$0.isWeak }
    guard !strong.isEmpty else { throw .weakKey }
    guard strong.contains(where: { $0.isValid(signature, of: signingInput, by: scheme) }) else {
      throw .badSignature
    }
  }

  /// Verifies the signature with a secret that the signer and the client share.
  ///
  /// Throws ``JWSFailure/weakKey`` if the secret is shorter than the algorithm's digest.
  ///
  /// - SeeAlso: RFC 7518, section 3.2
  func verify(secret: Data, algorithm: JWSAlgorithm) throws(JWSFailure) {
    try require(algorithm)
    guard algorithm.isSymmetric else { throw .noKey }
    guard secret.count >= algorithm.digestSize else { throw .weakKey }
    guard
      HMAC.isValid(signature, of: signingInput, secret: secret, by: algorithm.hashFunction)
    else { throw .badSignature }
  }

  /// Verifies the signature with the public key in the header, and returns the members that
  /// determine the key.
  ///
  /// A valid signature proves only that the signer has the private half of this key. The header
  /// must not contain a private key.
  ///
  /// - SeeAlso: RFC 9449, section 4.3; RFC 7638, section 3.2
  package func verifyWithOwnKey(
    _ algorithms: Set<JWSAlgorithm>
  ) throws(JWSFailure) -> [String: String] {
    guard let algorithm = JWSAlgorithm(named: algorithmName), algorithms.contains(algorithm),
      let scheme = algorithm.scheme
    else { throw .algorithm(found: algorithmName) }
    guard let ownKey, case .object(let members) = ownKey, let key = JSONWebKey(ownKey),
      key.fits(algorithm, keyID: nil)
    else { throw .noKey }
    guard Self.privateNames.isDisjoint(with: members.keys) else {
      throw .malformed("the header has a private key")
    }
    guard !key.publicKey.isWeak else { throw .weakKey }
    guard key.publicKey.isValid(signature, of: signingInput, by: scheme) else {
      throw .badSignature
    }
    return JSONWebKey.identifyingMembers(of: members)
  }

  /// The members that only a private or a symmetric key has (RFC 7518, section 6).
  private static let privateNames: Set = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]

  private func require(_ algorithm: JWSAlgorithm) throws(JWSFailure) {
    guard JWSAlgorithm(named: algorithmName) == algorithm else {
      throw .algorithm(found: algorithmName)
    }
  }
}
