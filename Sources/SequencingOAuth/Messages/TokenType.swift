/// The type of a token in a token exchange, as a URI.
///
/// - SeeAlso: RFC 8693, section 3
public struct TokenType: RawRepresentable, Sendable, Hashable {
  /// The URI.
  public let rawValue: String

  /// Creates a type from its URI.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// An access token in any format.
  public static let accessToken = Self(rawValue: "urn:ietf:params:oauth:token-type:access_token")
  /// A refresh token.
  public static let refreshToken = Self(rawValue: "urn:ietf:params:oauth:token-type:refresh_token")
  /// An ID token.
  public static let idToken = Self(rawValue: "urn:ietf:params:oauth:token-type:id_token")
  /// A JWT, not necessarily an access token.
  public static let jwt = Self(rawValue: "urn:ietf:params:oauth:token-type:jwt")
  /// An ID-JAG: a JWT with which an identity provider grants access at another authorization
  /// server.
  ///
  /// - SeeAlso: draft-ietf-oauth-identity-assertion-authz-grant, section 3
  public static let idJAG = Self(rawValue: "urn:ietf:params:oauth:token-type:id-jag")
  /// A SAML 1.1 assertion in base64url.
  public static let saml1 = Self(rawValue: "urn:ietf:params:oauth:token-type:saml1")
  /// A SAML 2.0 assertion in base64url.
  public static let saml2 = Self(rawValue: "urn:ietf:params:oauth:token-type:saml2")
}
