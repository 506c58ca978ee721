/// A fault of a UserInfo response, for tests of clients that must handle it.
///
/// The raw value of a fault is a phrase that a test can use in its name.
public enum SandboxUserInfoFault: String, Sendable, Hashable, CaseIterable,
  CustomStringConvertible
{
  /// The claims are about another user.
  case otherSubject = "sub names another user"
  /// The claims have no `sub`.
  case subjectMissing = "sub is missing"
  /// The content type is wrong: a JWT's type for JSON, and JSON's type for a JWT.
  case otherContentType = "the content type does not match the content"
  /// The content type is `text/html`.
  case html = "the content type is text/html"
  /// The JWT's signature is wrong; a plain JSON answer becomes such a JWT.
  case wrongSignature = "the JWT's signature is wrong"
  /// The JWT has the algorithm `none` and no signature; a plain JSON answer becomes such a JWT.
  case unsigned = "the JWT has the algorithm none and no signature"
  /// The member `iss` names another server; a plain JSON answer gets this member too.
  case otherIssuer = "iss names another server"
  /// The member `aud` names another client; a plain JSON answer gets this member too.
  case otherAudience = "aud names another client"
  /// The token is rejected with the status 401 and `invalid_token`.
  case unauthorized = "the token is rejected with the status 401"

  /// The fault as a phrase, such as `sub is missing`.
  public var description: String { rawValue }

  /// Returns the faulty answer in place of plain JSON.
  func answer(_ claims: SandboxJSON) -> Answer {
    switch self {
    case .wrongSignature, .unsigned:
      answer(SandboxJWT(claims, key: SigningKey(generating: .es256), namesKey: false))
    case .unauthorized: refusal
    case .otherContentType: Answer(json: claims).typed("application/jwt")
    case .html: Answer(json: claims).typed("text/html")
    default: Answer(json: altered(claims))
    }
  }

  /// Returns the faulty answer in place of a signed JWT.
  func answer(_ jwt: SandboxJWT) -> Answer {
    var jwt = jwt
    jwt.claims = altered(jwt.claims)
    switch self {
    case .unauthorized: return refusal
    case .otherContentType: return UserInfoEndpoint.token(jwt.signed).typed("application/json")
    case .html: return UserInfoEndpoint.token(jwt.signed).typed("text/html")
    case .wrongSignature: return UserInfoEndpoint.token(jwt.wronglySigned)
    case .unsigned: return UserInfoEndpoint.token(jwt.unsigned)
    default: return UserInfoEndpoint.token(jwt.signed)
    }
  }

  private func altered(_ claims: SandboxJSON) -> SandboxJSON {
    switch self {
    case .otherSubject: claims.setting("sub", to: "another-user")
    case .subjectMissing: claims.setting("sub", to: nil)
    case .otherIssuer: claims.setting("iss", to: "https://other.example")
    case .otherAudience: claims.setting("aud", to: "another-client")
    default: claims
    }
  }

  private var refusal: Answer {
    TokenRefusal(401, "invalid_token", "A test asked the sandbox for this error.").answer
  }
}

extension Answer {
  /// Returns this answer with another content type.
  fileprivate func typed(_ type: String) -> Answer {
    var answer = self
    answer.headers.removeAll { $0.name == "Content-Type" }
    answer.headers.append(("Content-Type", type))
    return answer
  }
}
