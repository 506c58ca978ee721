// MARK: For identity

extension SandboxMisbehaviour {
  /// A token response whose ID token has a fault, for the token endpoint.
  ///
  /// The argument `times` of ``SandboxServer/misbehave(at:_:times:)`` counts ID tokens from all
  /// grants and from refreshes, not requests.
  public static func idToken(_ fault: SandboxIDTokenFault) -> Self {
    Self(kind: .idToken(fault))
  }

  /// A token response whose ID token is changed by a closure before signing, for the token
  /// endpoint.
  ///
  /// ```swift
  /// sandbox.misbehave(at: .token, .idToken { $0.claims["tenant"] = "another" })
  /// ```
  public static func idToken(
    altered change: @escaping @Sendable (_ token: inout SandboxJWT) -> Void
  ) -> Self {
    Self(kind: .alteredIDToken(change))
  }

  /// A JWT with a fault in its form, its header or its signature.
  ///
  /// At the token endpoint, the JWT is the access token of a sandbox whose access tokens are JWTs,
  /// or the JWT from a token exchange. At the introspection endpoint, it is the signed answer, and
  /// at the authorization endpoint, it is the signed response. A fault that concerns a claim has no
  /// effect; to change claims, use ``jwt(altered:)``.
  public static func jwt(_ fault: SandboxIDTokenFault) -> Self {
    Self(kind: .jwt(fault))
  }

  /// A JWT that a closure changes before it is signed: an access token, the introspection
  /// endpoint's answer, or a signed authorization response.
  public static func jwt(
    altered change: @escaping @Sendable (_ token: inout SandboxJWT) -> Void
  ) -> Self {
    Self(kind: .alteredJWT(change))
  }

  /// A key set with a fault, for the endpoint of the keys.
  public static func keySet(_ fault: SandboxKeySetFault) -> Self {
    switch fault {
    case .unreachable: .cut(.beforeProcessing)
    case .serverError: .status(500)
    case .notFound: .status(404)
    case .notJSON: .notJSON
    case .silent: .stall(afterBodyBytes: 0)
    default: Self(kind: .keySet(fault))
    }
  }

  /// A UserInfo response with a fault, for the UserInfo endpoint.
  public static func userInfo(_ fault: SandboxUserInfoFault) -> Self {
    Self(kind: .userInfo(fault))
  }
}
