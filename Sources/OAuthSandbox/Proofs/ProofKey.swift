import SQFoundation

/// The public key in the header of a proof.
struct ProofKey {
  private let key: OpenSSLKey
  private let algorithm: SandboxSigningAlgorithm
  /// The key's thumbprint, `jkt`.
  let thumbprint: String

  /// The parameters of private and symmetric keys (RFC 7518, section 6).
  private static let secretNames = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]

  /// The minimum size of an RSA modulus in bytes (RFC 7518, section 3.3).
  private static let leastModulusBytes = 256

  /// Reads a JSON Web Key, which must be public, complete and suitable for the algorithm.
  init(_ jwk: SandboxJSON?, _ algorithm: SandboxSigningAlgorithm) throws(ProofFault) {
    guard let jwk, let thumbprint = Self.thumbprint(of: jwk) else {
      throw .invalid("The header has no public key in jwk.")
    }
    guard !Self.secretNames.contains(where: { jwk[$0] != nil }) else {
      throw .invalid("jwk contains parameters of a private or symmetric key.")
    }
    func has(_ members: [SandboxJSON.Member]) -> Bool {
      members.allSatisfy { jwk[$0.name] == $0.value }
    }
    guard has(algorithm.family.keyType), let key = OpenSSLKey(publicJWK: jwk) else {
      throw .invalid("jwk is not a key for the algorithm in alg.")
    }
    // RFC 7518 allows one text for each number of the key. Reject any other text, such as one with
    // leading zeros, because it would change the thumbprint.
    guard has(key.parameters(algorithm.family)) else {
      throw .invalid("jwk does not have the form of RFC 7518, such as coordinates at full length.")
    }
    if case .string(let modulus)? = jwk["n"] {
      guard Crypto.bytes(base64URL: modulus)?.count ?? 0 >= Self.leastModulusBytes else {
        throw .invalid("An RSA key must have at least 2048 bits.")
      }
    }
    self.key = key
    self.algorithm = algorithm
    self.thumbprint = thumbprint
  }

  /// Returns whether this key signed a token.
  func hasSigned(_ jwt: ReceivedJWT) -> Bool { jwt.isSigned(by: key, algorithm) }

  /// Returns the thumbprint of a public key, or `nil` if a required parameter is missing.
  ///
  /// - SeeAlso: RFC 7638, section 3
  static func thumbprint(of jwk: SandboxJSON) -> String? {
    let names: [String] =
      switch jwk["kty"] {
      case "EC"?: ["crv", "kty", "x", "y"]
      case "OKP"?: ["crv", "kty", "x"]
      case "RSA"?: ["e", "kty", "n"]
      default: []
      }
    let members = names.compactMap { name -> SandboxJSON.Member? in
      guard case .string(let text)? = jwk[name] else { return nil }
      return SandboxJSON.Member(name, .string(text))
    }
    guard !names.isEmpty, members.count == names.count else { return nil }
    return Crypto.digest(of: SandboxJSON.object(members).text)
  }
}
