/// A fault of a logout token, for tests of clients that must reject it.
///
/// The raw value of a fault is a phrase that a test can use in its name.
///
/// - SeeAlso: OpenID Connect Back-Channel Logout 1.0, section 2.6
public enum SandboxLogoutTokenFault: String, Sendable, Hashable, CaseIterable,
  CustomStringConvertible
{
  /// The algorithm is `none`, and there is no signature.
  case unsigned = "the algorithm is none, and there is no signature"
  /// The signature is wrong.
  case wrongSignature = "the signature is wrong"
  /// `typ` is `JWT`, as in an ID token.
  case otherType = "typ is JWT"
  /// `iss` names another server.
  case issuerWrong = "iss names another server"
  /// `iss` is missing.
  case issuerMissing = "iss is missing"
  /// `aud` names another client.
  case audienceWrong = "aud names another client"
  /// `aud` is missing.
  case audienceMissing = "aud is missing"
  /// `iat` is missing.
  case issueDateMissing = "iat is missing"
  /// `iat` is an hour in the future.
  case issuedInFuture = "iat is an hour in the future"
  /// `exp` is an hour in the past.
  case expired = "exp is an hour in the past"
  /// `exp` is missing.
  case expiryMissing = "exp is missing"
  /// `jti` is missing.
  case idMissing = "jti is missing"
  /// `events` is missing.
  case eventsMissing = "events is missing"
  /// `events` contains only an event that is not a logout.
  case otherEvent = "events contains only another event"
  /// `events` contains the logout event, but the event's value is not an object.
  case eventNotAnObject = "the event's value is not an object"
  /// Both `sub` and `sid` are missing.
  case subjectAndSessionMissing = "both sub and sid are missing"
  /// The token has a `nonce`, like an ID token.
  case nonce = "the token has a nonce"

  /// The fault as a phrase, such as `iss is missing`.
  public var description: String { rawValue }

  func token(from jwt: SandboxJWT) -> String {
    switch self {
    case .unsigned: return jwt.unsigned
    case .wrongSignature: return jwt.wronglySigned
    default:
      var jwt = jwt
      alter(&jwt)
      return jwt.signed
    }
  }

  private func alter(_ jwt: inout SandboxJWT) {
    switch self {
    case .unsigned, .wrongSignature: break
    case .otherType: jwt.header["typ"] = "JWT"
    case .issuerWrong: jwt.claims["iss"] = "https://other.example"
    case .issuerMissing: jwt.claims["iss"] = nil
    case .audienceWrong: jwt.claims["aud"] = "another-client"
    case .audienceMissing: jwt.claims["aud"] = nil
    case .issueDateMissing: jwt.claims["iat"] = nil
    case .issuedInFuture: jwt.move("iat", by: 3600)
    case .expired: jwt.move("exp", by: -3720)
    case .expiryMissing: jwt.claims["exp"] = nil
    case .idMissing: jwt.claims["jti"] = nil
    case .eventsMissing: jwt.claims["events"] = nil
    case .otherEvent: jwt.claims["events"] = ["https://other.example/event": [:]]
    case .eventNotAnObject: jwt.claims["events"] = .object([.init(LogoutTokens.event, true)])
    case .subjectAndSessionMissing:
      jwt.claims["sub"] = nil
      jwt.claims["sid"] = nil
    case .nonce: jwt.claims["nonce"] = "a-nonce"
    }
  }
}
