/// A way in which a UserInfo response can be wrong.
///
/// The text of a fault is a phrase for the name of a test.
public enum SandboxUserInfoFault: String, Sendable, Hashable, CaseIterable,
  CustomStringConvertible
{
  /// The claims are about another user.
  case otherSubject = "sub is that of another user"
  /// The claims have no `sub`.
  case subjectMissing = "sub is missing"
  /// The content type says that JSON is a JWT, or that a JWT is JSON.
  case otherContentType = "the content type is that of the other form"
  /// The content type is `text/html`.
  case html = "the content type is text/html"
  /// The signature of the JWT is wrong; plain JSON becomes such a JWT.
  case wrongSignature = "the signature of the JWT is wrong"
  /// The JWT has the algorithm `none` and no signature.
  case unsigned = "the JWT has the algorithm none and no signature"
  /// The `iss` of the JWT is another one; without a JWT the claims get such a member.
  case otherIssuer = "iss is that of another server"
  /// The `aud` of the JWT is another client; without a JWT the claims get such a member.
  case otherAudience = "aud is another client"
  /// The token is refused with the status 401 and `invalid_token`.
  case unauthorized = "the token is refused with the status 401"

  /// What is wrong.
  public var description: String { rawValue }

  /// The wrong answer in place of plain JSON.
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

  /// The wrong answer in place of a signed JWT.
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
    TokenRefusal(401, "invalid_token", "A test asked the sandbox for this.").answer
  }
}

extension Answer {
  /// This answer with another content type.
  fileprivate func typed(_ type: String) -> Answer {
    var answer = self
    answer.headers.removeAll { $0.name == "Content-Type" }
    answer.headers.append(("Content-Type", type))
    return answer
  }
}
