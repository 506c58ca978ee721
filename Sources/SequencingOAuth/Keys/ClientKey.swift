public import SQBasics
import SQCrypto

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A private key with which a client signs: to prove who it is, or to say for whom it acts.
///
/// The server knows the public half, ``publicJWK``. So no secret travels, and what the server
/// stores lets no thief act as the client. Printing a key shows its algorithm and its name.
///
/// - SeeAlso: RFC 7523
public struct ClientKey: Sendable {
  /// The algorithm of the signatures.
  public let algorithm: JWSAlgorithm
  /// The name of the key in the header of what it signs (`kid`); `nil` to name none.
  public let keyID: String?
  /// The public half as a JSON Web Key, which the server must get; `nil` if it was not given.
  ///
  /// Only a key that signs elsewhere may lack it.
  ///
  /// - SeeAlso: RFC 7517
  public let publicJWK: JSONValue?

  let signer: Signer

  /// What makes the signatures.
  enum Signer: Sendable {
    case here(PrivateKey)
    case elsewhere(RemoteSigner)
  }

  // MARK: Keys of this process

  /// Makes a new key.
  ///
  /// An RSA key has 3072 bits, which takes about a second to make.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` for an algorithm whose key would be a
  ///   shared secret.
  public init(generating algorithm: JWSAlgorithm = .es256) throws(SQOAuthError) {
    let kind = try Self.scheme(of: algorithm).keyKind
    guard let key = PrivateKey(generating: kind) else {
      throw SQOAuthError(.clientKeyFailed, "libcrypto cannot make a key")
    }
    try self.init(key, algorithm, keyID: nil)
  }

  /// Reads a private key in PEM: PKCS#8, or the older forms of RSA and EC keys.
  ///
  /// Without an `algorithm` it is `RS256` for an RSA key, and for other keys the only one that they
  /// have. Without a `keyID` the name is the key's thumbprint (RFC 7638).
  ///
  /// - Throws: ``SQOAuthError/Code/wrongPassphrase`` if the passphrase is missing, wrong or one too
  ///   many; ``SQOAuthError/Code/invalidConfiguration`` if the text is no such key, or if the key
  ///   does not suit the algorithm or is too short. No error quotes the text.
  /// - SeeAlso: RFC 7468
  public init(
    pem: String, algorithm: JWSAlgorithm? = nil, keyID: String? = nil, passphrase: String? = nil
  ) throws(SQOAuthError) {
    try self.init(try PEMKey.read(pem, passphrase: passphrase), algorithm, keyID: keyID)
  }

  /// Reads a private key from a JSON Web Key.
  ///
  /// The algorithm and the name are the arguments, or else the key's `alg` and `kid`, or else those
  /// of a key in PEM.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` if the text is no such key, or if the key
  ///   does not suit the algorithm or is too short. No error quotes the text.
  /// - SeeAlso: RFC 7517; RFC 7518, section 6; RFC 8037
  public init(
    jwk: String, algorithm: JWSAlgorithm? = nil, keyID: String? = nil
  ) throws(SQOAuthError) {
    let read = try PrivateJWK(jwk)
    try self.init(read.key, algorithm ?? read.algorithm, keyID: keyID ?? read.keyID)
  }

  private init(
    _ key: PrivateKey, _ algorithm: JWSAlgorithm?, keyID: String?
  ) throws(SQOAuthError) {
    let algorithm = algorithm ?? key.kind.usualAlgorithm
    guard try Self.scheme(of: algorithm).keyKind == key.kind else {
      throw .unusableClientKey("the key does not suit the algorithm \(algorithm.rawValue)")
    }
    guard !key.isWeak else {
      throw .unusableClientKey("the RSA key has less than 2048 bits, which protects nothing")
    }
    let members = key.publicMembers
    let keyID = keyID ?? Self.thumbprint(members)
    let publicJWK = Self.publicJWK(members.mapValues(JSONValue.string), algorithm, keyID)
    // Such as an RSA key whose exponent is 1.
    guard JSONWebKey(publicJWK) != nil else {
      throw .unusableClientKey("its public half is none that a server would accept")
    }
    self.algorithm = algorithm
    self.keyID = keyID
    self.publicJWK = publicJWK
    signer = .here(key)
  }

  /// The key as PKCS#8 in PEM, for a place that only your app can read.
  ///
  /// With a passphrase the text is sealed by scrypt and AES-256. OpenSSL's programs read it.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` for a key that signs elsewhere, for an
  ///   RSA key from a JSON Web Key without primes, and for a passphrase that no program could enter.
  /// - SeeAlso: RFC 7468, sections 10 and 11
  public func pem(passphrase: String? = nil) throws(SQOAuthError) -> String {
    guard case .here(let key) = signer else {
      throw .unusableClientKey("the key signs elsewhere, so its private half is not here")
    }
    return try PEMKey.write(key, passphrase: passphrase)
  }

  // MARK: Keys elsewhere

  /// Takes a key that signs elsewhere, such as in a security module or a cloud's key service.
  ///
  /// `sign` gets the bytes to sign and returns the signature as JWS has it: for ECDSA the numbers r
  /// and s in their full size (RFC 7518, section 3.4), not DER. It has 10 s, after which its task
  /// is cancelled and the request fails. It is called on any thread, possibly several times at
  /// once. With the public half each signature is verified before it is sent, and the client can
  /// register itself.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` if the public key cannot be read or does
  ///   not suit the algorithm.
  public init(
    algorithm: JWSAlgorithm, keyID: String?, publicJWK: String? = nil,
    sign: @escaping @Sendable (_ message: Data) async throws -> Data
  ) throws(SQOAuthError) {
    let scheme = try Self.scheme(of: algorithm)
    let members = try publicJWK.map { text throws(SQOAuthError) in
      try JWKText.members(of: text).filter { JWKText.publicNames.contains($0.key) }
    }
    var publicKey: PublicKey?
    if let members {
      publicKey = JSONWebKey(.object(members))?.publicKey
      guard publicKey?.kind == scheme.keyKind else {
        throw .unusableClientKey(
          "the public key cannot be read, or does not suit the algorithm \(algorithm.rawValue)")
      }
    }
    self.algorithm = algorithm
    self.keyID = keyID
    self.publicJWK = members.map { Self.publicJWK($0, algorithm, keyID) }
    signer = .elsewhere(RemoteSigner(publicKey: publicKey, sign: sign))
  }

  // MARK: The public half

  private static func scheme(
    of algorithm: JWSAlgorithm
  ) throws(SQOAuthError) -> SignatureScheme {
    guard let scheme = algorithm.scheme else {
      throw .unusableClientKey(
        "\(algorithm.rawValue) needs a secret that the server shares, and a client key is none")
    }
    return scheme
  }

  private static func publicJWK(
    _ members: [String: JSONValue], _ algorithm: JWSAlgorithm, _ keyID: String?
  ) -> JSONValue {
    var members = members
    members["use"] = "sig"
    members["alg"] = .string(algorithm.rawValue)
    members["kid"] = keyID.map(JSONValue.string)
    return .object(members)
  }

  /// The digest of a public key's required members.
  ///
  /// - SeeAlso: RFC 7638, section 3
  private static func thumbprint(_ members: [String: String]) -> String {
    // No value needs an escape: each is Base64url or the name of a curve or of a type.
    let text = members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\"\($0.value)\"" }
    return Base64URL.encode(Digest.sha256("{" + text.joined(separator: ",") + "}"))
  }
}

// Two keys are equal if they sign in the same way and have one public half, or are one signer.
extension ClientKey: Hashable {
  /// Whether two keys make the same signatures under one name.
  public static func == (one: ClientKey, other: ClientKey) -> Bool {
    one.algorithm == other.algorithm && one.keyID == other.keyID
      && one.publicJWK == other.publicJWK && one.remoteSigner == other.remoteSigner
  }

  /// Feeds what distinguishes a key to a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(algorithm)
    hasher.combine(keyID)
    hasher.combine(publicJWK)
    hasher.combine(remoteSigner)
  }

  private var remoteSigner: ObjectIdentifier? {
    if case .elsewhere(let signer) = signer { ObjectIdentifier(signer) } else { nil }
  }
}

extension ClientKey: Redacted {
  /// The algorithm and the name of the key.
  public var description: String {
    "client key \(algorithm.rawValue)" + (keyID.map { " \"\($0.printable)\"" } ?? "")
  }
}

extension PublicKey.Kind {
  /// The algorithm of a key that names none.
  fileprivate var usualAlgorithm: JWSAlgorithm {
    switch self {
    case .rsa: .rs256
    case .ellipticCurve(.p256): .es256
    case .ellipticCurve(.p384): .es384
    case .ellipticCurve(.p521): .es512
    case .ed25519: .edDSA
    }
  }
}

extension SQOAuthError {
  static func unusableClientKey(_ reason: String) -> SQOAuthError {
    SQOAuthError(.invalidConfiguration, "the client key cannot be used: \(reason)")
  }
}
