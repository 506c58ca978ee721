/// The form of the sandbox's access tokens.
public enum SandboxAccessTokenFormat: Sendable, Hashable {
  /// Random texts, which only the introspection endpoint explains.
  case opaque
  /// Signed JWTs, which a resource server can validate by itself.
  ///
  /// The audience is what the request names in `resource` or `audience`; without either, it is the
  /// sandbox's issuer. The HMAC algorithms cannot be used.
  ///
  /// - SeeAlso: RFC 9068
  case jwt(SandboxSigningAlgorithm)
}
