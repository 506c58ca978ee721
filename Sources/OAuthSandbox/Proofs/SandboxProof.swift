public import SQBasics
import SQFoundation

/// A proof of possession in a request, for a test to inspect; it may be wrong.
///
/// A member is `nil` if the proof lacks it or if it has the wrong type.
///
/// - SeeAlso: RFC 9449, section 4.2
public struct SandboxProof: Sendable {
  /// The header's `typ`, which should be `dpop+jwt`.
  public let type: String?
  /// The header's `alg`.
  public let algorithm: String?
  /// The thumbprint of the header's `jwk`, as in `dpop_jkt` and `jkt` (RFC 7638).
  public let keyThumbprint: String?
  /// The proof's unique identifier, `jti`.
  public let id: String?
  /// The method of the request, `htm`.
  public let method: String?
  /// The address of the request, `htu`.
  public let url: String?
  /// The time of the proof in seconds since 1970, `iat`.
  public let issued: Int?
  /// The server's nonce, `nonce`.
  public let nonce: String?
  /// The hash of the access token, `ath`.
  public let accessTokenHash: String?
  let jwt: ReceivedJWT

  /// Reads the value of a field `DPoP`, and fails if it is not a JWT.
  package init?(_ text: String) {
    guard let jwt = ReceivedJWT(text) else { return nil }
    self.jwt = jwt
    type = Self.text(jwt.header["typ"])
    algorithm = Self.text(jwt.header["alg"])
    keyThumbprint = jwt.header["jwk"].flatMap(ProofKey.thumbprint)
    id = Self.text(jwt.claims["jti"])
    method = Self.text(jwt.claims["htm"])
    url = Self.text(jwt.claims["htu"])
    nonce = Self.text(jwt.claims["nonce"])
    accessTokenHash = Self.text(jwt.claims["ath"])
    issued = if case .integer(let seconds)? = jwt.claims["iat"] { seconds } else { nil }
  }

  private static func text(_ json: SandboxJSON?) -> String? {
    if case .string(let text)? = json { text } else { nil }
  }
}

extension SandboxProof: Redacted {
  /// The method of the proof, without the nonce and the hash.
  public var description: String { "proof" + (method.map { " of \($0)" } ?? "") }
}

extension SandboxRequest {
  /// The proof of possession in the field `DPoP`.
  ///
  /// It is `nil` if the field is missing, occurs more than once or contains no JWT.
  public var proof: SandboxProof? { header("dpop").flatMap(SandboxProof.init) }

  /// The token in `Authorization` with the scheme `DPoP`.
  ///
  /// It is `nil` if the field has another scheme, is missing or occurs more than once.
  public var boundToken: String? {
    header("authorization").flatMap(Self.boundToken)
  }
}
