public import SQBasics
import SQCrypto
public import SQFoundation

/// A private key with which a client authenticates or signs assertions.
///
/// The server has the public half, ``publicJWK``. So the client sends no secret, and stolen data of
/// the server does not let a thief act as the client. Printing a key shows its algorithm and its
/// name.
///
/// - SeeAlso: RFC 7523
public struct ClientKey: Sendable {
  /// The algorithm of the key's signatures.
  public let algorithm: JWSAlgorithm
  /// The key's name in the header of the texts that it signs (`kid`); `nil` for no name.
  public let keyID: String?
  /// The public half as a JSON Web Key, for registration at the server; `nil` if it is not known.
  ///
  /// It can be `nil` only for a remote key.
  ///
  /// - SeeAlso: RFC 7517
  public let publicJWK: JSONValue?

  let signer: Signer

  /// The signer: a key in this process, or a remote key.
  enum Signer: Sendable {
    case here(PrivateKey)
    case elsewhere(RemoteSigner)
  }

  // MARK: Keys of this process

  /// Creates a new key.
  ///
  /// An RSA key has 3072 bits; generating it takes about a second.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` for an algorithm with a shared secret;
  ///   ``SQOAuthError/Code/clientKeyFailed`` if OpenSSL cannot generate the key.
  public init(generating algorithm: JWSAlgorithm = .es256) throws(SQOAuthError) {
    let kind = try Self.scheme(of: algorithm).keyKind
    guard let key = PrivateKey(generating: kind) else {
      throw .cannotMakeKey(kind)
    }
    try self.init(key, algorithm, keyID: nil)
  }

  /// Creates a key from a private key in PEM: PKCS#8, or the older formats of RSA and EC keys.
  ///
  /// Without an `algorithm`, an RSA key uses `RS256`, and any other key uses the only algorithm for
  /// its type. Without a `keyID`, the name is the key's thumbprint (RFC 7638).
  ///
  /// - Throws: ``SQOAuthError/Code/wrongPassphrase`` if the passphrase is missing, wrong or not
  ///   needed; ``SQOAuthError/Code/invalidConfiguration`` if the text is not such a key, if the key
  ///   does not match the algorithm or is too short, or if the passphrase is empty, has more than
  ///   1024 bytes or contains a NUL; ``SQOAuthError/Code/clientKeyFailed`` if OpenSSL's
  ///   configuration lacks what the key needs. No error quotes the text.
  /// - SeeAlso: RFC 7468
  public init(
    pem: String, algorithm: JWSAlgorithm? = nil, keyID: String? = nil, passphrase: String? = nil
  ) throws(SQOAuthError) {
    try self.init(try PEMKey.read(pem, passphrase: passphrase), algorithm, keyID: keyID)
  }

  /// Creates a key from a private JSON Web Key.
  ///
  /// An argument overrides the key's own `alg` or `kid`. An algorithm or a name that neither the
  /// arguments nor the key contain is chosen as for a key in PEM.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` if the text is not such a key, or if the
  ///   key does not match the algorithm or is too short; ``SQOAuthError/Code/clientKeyFailed`` if
  ///   OpenSSL's configuration lacks what the key needs. No error quotes the text.
  /// - SeeAlso: RFC 7517; RFC 7518, section 6; RFC 8037
  public init(
    jwk: String, algorithm: JWSAlgorithm? = nil, keyID: String? = nil
  ) throws(SQOAuthError) {
    let read = try PrivateJWK(jwk, algorithm: algorithm)
    try self.init(read.key, read.algorithm, keyID: keyID ?? read.keyID)
  }

  private init(
    _ key: PrivateKey, _ algorithm: JWSAlgorithm?, keyID: String?
  ) throws(SQOAuthError) {
    let algorithm = algorithm ?? key.kind.usualAlgorithm
    guard try Self.scheme(of: algorithm).keyKind == key.kind else {
      throw .unusableClientKey("the key does not match the algorithm \(algorithm.rawValue)")
    }
    guard !key.isWeak else {
      throw .unusableClientKey("the RSA key has less than 2048 bits, so it is not secure")
    }
    let members = key.publicMembers
    let keyID = keyID ?? JWKThumbprint.of(members)
    let publicJWK = Self.publicJWK(members, algorithm, keyID)
    // This fails, for example, for an RSA key whose exponent is 1.
    guard JSONWebKey(publicJWK) != nil else {
      if let lack = SQOAuthError.lackForReadingKey() { throw lack }
      throw .unusableClientKey("no server would accept its public half")
    }
    self.algorithm = algorithm
    self.keyID = keyID
    self.publicJWK = publicJWK
    signer = .here(key)
  }

  /// Returns the key as PKCS#8 in PEM.
  ///
  /// Store it where only your app can read it. With a passphrase the text is encrypted with scrypt
  /// and AES-256. OpenSSL's programs can read it.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` for a remote key, for an RSA key from a
  ///   JSON Web Key without primes, and for a passphrase that is empty, has more than 1024 bytes or
  ///   contains a NUL; ``SQOAuthError/Code/clientKeyFailed`` if OpenSSL cannot write the key.
  /// - SeeAlso: RFC 7468, sections 10 and 11
  public func pem(passphrase: String? = nil) throws(SQOAuthError) -> String {
    guard case .here(let key) = signer else {
      throw SQOAuthError(
        .invalidConfiguration,
        "a remote client key cannot be written as PEM, because its private half is elsewhere")
    }
    return try PEMKey.write(key, passphrase: passphrase)
  }

  // MARK: Keys elsewhere

  /// Creates a key whose private half is elsewhere, such as in a security module or a cloud's key
  /// service.
  ///
  /// `sign` gets the bytes to sign, and returns the signature in the format of JWS. For ECDSA, that
  /// is the numbers r and s in their full size (RFC 7518, section 3.4), not DER. `sign` is called
  /// on any thread, possibly several times at once. After 10 s, the task of a call is cancelled,
  /// and the request fails. With `publicJWK`, each signature is verified before it is sent, and the
  /// client can register itself.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` if the algorithm needs a shared secret,
  ///   or if the public key cannot be read or does not match the algorithm.
  public init(
    algorithm: JWSAlgorithm, keyID: String?, publicJWK: String? = nil,
    sign: @escaping @Sendable (_ message: Data) async throws -> Data
  ) throws(SQOAuthError) {
    let scheme = try Self.scheme(of: algorithm)
    let members = try publicJWK.map { text throws(SQOAuthError) in
      JSONWebKey.identifyingMembers(of: try JWKText.members(of: text))
    }
    var publicKey: PublicKey?
    if let members {
      publicKey = JSONWebKey(.object(members.mapValues(JSONValue.string)))?.publicKey
      guard publicKey?.kind == scheme.keyKind else {
        throw .unusableClientKey(
          "the public key cannot be read, or does not match the algorithm \(algorithm.rawValue)")
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
        "\(algorithm.rawValue) needs a shared secret, but a client key is a private key")
    }
    return scheme
  }

  /// Returns the thumbprint of a public key in JSON, which is the default name of a key.
  ///
  /// - SeeAlso: RFC 7638, section 3
  package static func thumbprint(of publicJWK: [String: JSONValue]) -> String {
    JWKThumbprint.of(JSONWebKey.identifyingMembers(of: publicJWK))
  }

  /// Returns the public half for a server; `listed` are the algorithm names in its metadata.
  func publicJWK(forServerListing listed: [String]?) -> JSONValue? {
    guard var members = publicJWK?.object else { return publicJWK }
    members["alg"] = .string(algorithm.name(in: listed))
    return .object(members)
  }

  private static func publicJWK(
    _ members: [String: String], _ algorithm: JWSAlgorithm, _ keyID: String?
  ) -> JSONValue {
    var members = members.mapValues(JSONValue.string)
    members["use"] = "sig"
    members["alg"] = .string(algorithm.rawValue)
    members["kid"] = keyID.map(JSONValue.string)
    return .object(members)
  }
}

extension ClientKey: Hashable {
  /// Returns whether algorithm, key ID, public key and remote signer match.
  public static func == (one: ClientKey, other: ClientKey) -> Bool {
    one.algorithm == other.algorithm && one.keyID == other.keyID
      && one.publicJWK == other.publicJWK && one.remoteSigner == other.remoteSigner
  }

  /// Hashes the algorithm, the key ID, the public key and the remote signer.
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
  /// The default algorithm for a key of this kind.
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
