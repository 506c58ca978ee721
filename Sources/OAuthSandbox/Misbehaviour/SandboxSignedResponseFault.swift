/// A fault of a signed authorization response, for tests of clients that must reject it.
///
/// Pass it to ``SandboxMisbehaviour/signedResponse(_:)``. The raw value of a fault is a phrase that
/// a test can use in its name.
///
/// - SeeAlso: JARM, section 2.4
public enum SandboxSignedResponseFault: String, Sendable, Hashable, CaseIterable,
  CustomStringConvertible
{
  // MARK: The claims

  /// `iss` names another server.
  case issuerWrong = "iss names another server"
  /// `iss` is missing.
  case issuerMissing = "iss is missing"
  /// `aud` names another client.
  case audienceWrong = "aud names another client"
  /// `aud` is missing.
  case audienceMissing = "aud is missing"
  /// `exp` is an hour in the past.
  case expired = "exp is an hour in the past"
  /// `exp` is missing.
  case expiryMissing = "exp is missing"
  /// `state` is missing.
  case stateMissing = "state is missing"
  /// `state` differs from the request's.
  case stateWrong = "state differs from the request's"

  // MARK: The signature

  /// The signature is wrong.
  case wrongSignature = "the signature is wrong"
  /// The algorithm is `none`, and there is no signature.
  case unsigned = "the algorithm is none, and there is no signature"
  /// The response is signed by a key that is not in the server's key set.
  case unpublishedKey = "the signing key is not in the set"
  /// The response is no JWT.
  case notJWT = "the response is no JWT"

  // MARK: The parameters

  /// The response has plain parameters in place of the JWT.
  case plain = "the parameters are plain"
  /// The response has plain parameters beside the JWT.
  case plainToo = "plain parameters come with the JWT"
  /// The parameter `response` occurs twice.
  case doubled = "the parameter response occurs twice"
  /// The redirect has no parameters, so the parameter `response` is missing.
  case missing = "the parameter response is missing"

  /// The fault as a phrase, such as `aud is missing`.
  public var description: String { rawValue }

  /// Returns the faulty JWT in place of the right one.
  func text(_ jwt: SandboxJWT) -> String {
    switch self {
    case .wrongSignature: return jwt.wronglySigned
    case .unsigned: return jwt.unsigned
    case .unpublishedKey:
      let algorithm = jwt.key.algorithm
      return jwt.signed(by: SigningKey(generating: algorithm.usesSecret ? .rs256 : algorithm))
    case .notJWT: return "not-a-jwt"
    default:
      var jwt = jwt
      alter(&jwt)
      return jwt.signed
    }
  }

  private func alter(_ jwt: inout SandboxJWT) {
    switch self {
    case .issuerWrong: jwt.claims["iss"] = "https://other.example"
    case .issuerMissing: jwt.claims["iss"] = nil
    case .audienceWrong: jwt.claims["aud"] = "another-client"
    case .audienceMissing: jwt.claims["aud"] = nil
    case .expired: jwt.move("exp", by: -4200)
    case .expiryMissing: jwt.claims["exp"] = nil
    case .stateMissing: jwt.claims["state"] = nil
    case .stateWrong: jwt.claims["state"] = "another-state"
    default: break
    }
  }
}

extension SandboxMisbehaviour {
  /// A signed authorization response with a fault, for the authorization endpoint.
  ///
  /// The misbehaviour stays pending until a request has a signed response mode. The argument
  /// `times` of ``SandboxServer/misbehave(at:_:times:)`` counts the answers to such requests.
  /// ``jwt(_:)`` and ``jwt(altered:)`` also change a signed response, and ``state(_:)``,
  /// ``issuer(_:)`` and ``code(_:)`` change its claims.
  public static func signedResponse(_ fault: SandboxSignedResponseFault) -> Self {
    Self(kind: .signedResponse(fault))
  }
}
