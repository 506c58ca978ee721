import CSQCrypto
import SQBasics
import SQFoundation

/// A key that signs the sandbox's tokens.
///
/// Its secret part is stored as bytes, so the key is a plain value. OpenSSL parses them for each
/// signature.
struct SigningKey: Sendable, Redacted {
  let algorithm: SandboxSigningAlgorithm
  /// The key's `kid`; `nil` for a client's secret, which no key set contains.
  let id: String?
  /// The public parameters of the key's JWK; empty for a client's secret.
  let parameters: [SandboxJSON.Member]
  /// The public key as a PEM text (RFC 7468, section 13); empty for a client's secret.
  let publicPEM: String
  /// The private key in DER, or the bytes of a client's secret.
  private let secret: Data

  /// Creates a new key with a unique ID.
  init(generating algorithm: SandboxSigningAlgorithm, rsaBits: Int32 = 2048) {
    Crypto.prepare()
    let key = OpenSSLKey(generating: algorithm.family, rsaBits: rsaBits)
    self.algorithm = algorithm
    id = algorithm.rawValue.lowercased() + "-" + Crypto.secret("").prefix(8)
    parameters = key.parameters(algorithm.family)
    publicPEM = Self.pem(key.publicDER)
    secret = key.privateDER
  }

  /// Creates an HMAC key from a client's secret or any other text.
  init(secret: String, algorithm: SandboxSigningAlgorithm, id: String? = nil) {
    self.algorithm = algorithm
    self.id = id
    parameters = []
    publicPEM = ""
    self.secret = Data(secret.utf8)
  }

  /// Returns the public key as a member of a JWK set (RFC 7517, section 4).
  func json(namesKey: Bool) -> SandboxJSON {
    let head = [SandboxJSON.Member("use", "sig"), .init("alg", .string(algorithm.rawValue))]
    let id = namesKey ? self.id.map { [SandboxJSON.Member("kid", .string($0))] } : nil
    return .object(head + (id ?? []) + parameters)
  }

  /// Returns the signature of `bytes` in JWS form (RFC 7518, section 3).
  func signature(of bytes: Data) -> Data {
    Crypto.prepare()
    let key =
      algorithm.usesSecret ? OpenSSLKey(hmacSecret: secret) : OpenSSLKey(privateDER: secret)
    let signature = key.signature(of: bytes, algorithm)
    guard case .ecdsa(_, let coordinateBytes) = algorithm.family else { return signature }
    return OpenSSLKey.joinedIntegers(of: signature, coordinateBytes: coordinateBytes)
  }

  private static func pem(_ der: Data) -> String {
    let text = Array(der.base64EncodedString())
    let lines = stride(from: 0, to: text.count, by: 64).map { String(text[$0...].prefix(64)) }
    return "-----BEGIN PUBLIC KEY-----\n" + lines.joined(separator: "\n")
      + "\n-----END PUBLIC KEY-----\n"
  }
}
