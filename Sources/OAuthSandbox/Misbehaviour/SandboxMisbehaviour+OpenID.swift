// MARK: For identity

extension SandboxMisbehaviour {
  /// A token response whose ID token has a fault; use it at the token endpoint.
  ///
  /// `times` counts ID tokens, from codes and from refreshes.
  public static func idToken(_ fault: SandboxIDTokenFault) -> Self {
    Self(kind: .idToken(fault))
  }

  /// A token response whose ID token a closure has changed before it is signed.
  ///
  /// ```swift
  /// sandbox.misbehave(at: .token, .idToken { $0.claims["tenant"] = "another" })
  /// ```
  public static func idToken(
    altered change: @escaping @Sendable (_ token: inout SandboxJWT) -> Void
  ) -> Self {
    Self(kind: .alteredIDToken(change))
  }

  /// A key set with a fault; use it at the endpoint of the keys.
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

  /// A UserInfo response with a fault; use it at the UserInfo endpoint.
  public static func userInfo(_ fault: SandboxUserInfoFault) -> Self {
    Self(kind: .userInfo(fault))
  }
}
