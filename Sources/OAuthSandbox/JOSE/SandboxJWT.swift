public import SQBasics
import SQFoundation

/// A JSON Web Token before it is signed.
///
/// A test can change it with ``SandboxMisbehaviour/idToken(altered:)``. The header and the claims
/// are JSON objects, and ``SandboxJSON/subscript(_:)`` reads and changes their members.
///
/// - SeeAlso: RFC 7519
public struct SandboxJWT: Sendable {
  /// The header: `alg`, `typ`, and `kid` if the key has an ID and the sandbox names its keys.
  public var header: SandboxJSON
  /// The claims.
  public var claims: SandboxJSON
  /// The signing key, which may differ from the key that the header names.
  var key: SigningKey

  init(_ claims: SandboxJSON, type: String = "JWT", key: SigningKey, namesKey: Bool) {
    header = ["alg": .string(key.algorithm.rawValue), "typ": .string(type)]
    self.claims = claims
    self.key = key
    if namesKey, let id = key.id { header["kid"] = .string(id) }
  }

  /// The header and the claims in base64url, with a dot between them.
  var signingInput: String {
    [header, claims].map { Crypto.base64URL(Data($0.text.utf8)) }.joined(separator: ".")
  }

  /// The signed token in compact form (RFC 7515, section 3.1).
  var signed: String {
    let input = signingInput
    return input + "." + Crypto.base64URL(key.signature(of: Data(input.utf8)))
  }
}

extension SandboxJWT: Redacted {
  /// A fixed text, which shows no claim.
  public var description: String { "token" }
}
