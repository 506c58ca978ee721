import SQBasics
import SQCrypto
import SQFoundation

/// A private key from a JSON Web Key, with its algorithm and its name.
///
/// - SeeAlso: RFC 7517; RFC 7518, section 6; RFC 8037, section 2
struct PrivateJWK: Redacted {
  let key: PrivateKey
  let algorithm: JWSAlgorithm?
  let keyID: String?

  /// Reads a key; `algorithm` overrides the key's own `alg`.
  init(_ text: String, algorithm: JWSAlgorithm?) throws(SQOAuthError) {
    let members = try JWKText.members(of: text).filter { $0.value != .null }
    guard let key = Self.key(members) else {
      if let lack = SQOAuthError.lackForReadingKey() { throw lack }
      throw .unusableClientKey(
        "the text is not a complete RSA, P-256, P-384, P-521 or Ed25519 private JSON Web Key")
    }
    self.key = key
    self.algorithm = if let algorithm { algorithm } else { try Self.algorithm(members) }
    keyID = members["kid"].string
    // RFC 7517, sections 4.2 and 4.3. A private key may be marked for a use other than signing.
    let operations = members["key_ops"].map { $0.array ?? [] }
    guard members["use"] ?? "sig" == "sig", operations?.contains("sign") ?? true else {
      throw .unusableClientKey("the key is not for signatures (\"use\", \"key_ops\")")
    }
  }

  private static func algorithm(
    _ members: [String: JSONValue]
  ) throws(SQOAuthError) -> JWSAlgorithm? {
    guard let value = members["alg"] else { return nil }
    guard let algorithm = value.string.flatMap(JWSAlgorithm.init(named:)) else {
      throw .unusableClientKey("the SDK does not support the algorithm of the key (\"alg\")")
    }
    return algorithm
  }

  private static func key(_ members: [String: JSONValue]) -> PrivateKey? {
    func bytes(_ name: String) -> Data? { members[name].string.flatMap(Base64URL.decode) }
    func all(_ names: [String]) -> [Data]? {
      let values = names.compactMap(bytes)
      return values.count == names.count ? values : nil
    }
    switch members["kty"].string {
    case "RSA":
      // A key with more than two primes is not supported.
      guard members["oth"] == nil, let key = all(["n", "e", "d"]) else { return nil }
      let primes = ["p", "q", "dp", "dq", "qi"]
      guard primes.contains(where: { members[$0] != nil }) else {
        return PrivateKey(rsaNumbers: key)
      }
      return all(primes).flatMap { PrivateKey(rsaNumbers: key + $0) }
    case "EC":
      guard let curve = members["crv"].string.flatMap(EllipticCurve.init),
        let numbers = all(["x", "y", "d"])
      else { return nil }
      return PrivateKey(curve: curve, x: numbers[0], y: numbers[1], number: numbers[2])
    case "OKP":
      guard members["crv"].string == "Ed25519",
        let key = bytes("d").flatMap(PrivateKey.init(ed25519:)),
        key.publicMembers["x"] == members["x"].string
      else { return nil }
      return key
    default:
      return nil
    }
  }
}

/// A reader of the app's JSON Web Keys.
enum JWKText {
  static let maximumSize = 64 << 10

  static func members(of text: String) throws(SQOAuthError) -> [String: JSONValue] {
    // Some editors put a byte order mark before the text. In PEM, such a mark is accepted too.
    let scalars = text.unicodeScalars
    let content = scalars.first == "\u{FEFF}" ? scalars.dropFirst() : scalars[...]
    guard text.utf8.count <= maximumSize,
      let members = try? JOSEObject.members(of: Data(String(content).utf8), as: "key")
    else {
      throw .unusableClientKey(
        "the text is not a JSON object, has two members with the same name, or has more than "
          + "\(maximumSize) bytes")
    }
    return members
  }
}
