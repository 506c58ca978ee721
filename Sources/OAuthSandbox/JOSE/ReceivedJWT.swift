import SQBasics
import SQFoundation

/// The parts of a received JSON Web Token, whose signature may be wrong.
///
/// - SeeAlso: RFC 7515, section 3.1
struct ReceivedJWT: Sendable, Redacted {
  let header: SandboxJSON
  let claims: SandboxJSON
  private let signed: Data
  private let signature: Data

  /// Splits the compact form, and returns `nil` if a part is malformed.
  init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
      parts[2].utf8.allSatisfy(\.isBase64URL),
      let signature = Crypto.bytes(base64URL: String(parts[2]))
    else { return nil }
    self.header = header
    self.claims = claims
    self.signature = signature
    signed = Data(parts[0...1].joined(separator: ".").utf8)
  }

  private static func object(_ part: Substring) -> SandboxJSON? {
    guard part.utf8.allSatisfy(\.isBase64URL) else { return nil }
    return Crypto.bytes(base64URL: String(part)).flatMap { SandboxJSON(object: $0) }
  }

  /// The algorithm that the header names; `nil` if the sandbox does not know it.
  var algorithm: SandboxSigningAlgorithm? {
    guard case .string(let name)? = header["alg"] else { return nil }
    return SandboxSigningAlgorithm(rawValue: name)
  }

  /// Returns a claim's text, or `nil` if the claim is missing, empty or not a string.
  func text(_ name: String) -> String? {
    guard case .string(let text)? = claims[name], !text.isEmpty else { return nil }
    return text
  }

  /// Returns whether `key` made the signature with this algorithm.
  func isSigned(by key: OpenSSLKey, _ algorithm: SandboxSigningAlgorithm) -> Bool {
    key.isValid(signature, of: signed, algorithm)
  }

  /// Returns whether a registered key made the signature with the algorithm that the key names.
  func isSigned(byRegistered key: SandboxJSON) -> Bool {
    guard let algorithm, !algorithm.usesSecret, key["alg"] == .string(algorithm.rawValue),
      header["kid"] == nil || header["kid"] == key["kid"],
      let key = OpenSSLKey(publicJWK: key)
    else { return false }
    return isSigned(by: key, algorithm)
  }

  /// Returns whether the signature is an HMAC with this secret, which must have at least as many
  /// bytes as the hash.
  ///
  /// - SeeAlso: RFC 7518, section 3.2 (the size of the secret)
  func isSigned(bySecret secret: String) -> Bool {
    guard let algorithm, algorithm.usesSecret else { return false }
    let made = SigningKey(secret: secret, algorithm: algorithm).signature(of: signed)
    return secret.utf8.count >= made.count && made == signature
  }
}

extension UInt8 {
  /// Whether the byte may occur in base64url without padding.
  var isBase64URL: Bool {
    isAlphanumeric || self == UInt8(ascii: "-") || self == UInt8(ascii: "_")
  }
}
