/// The kind of access tokens that the sandbox issues: random strings or signed JWTs.
public enum SandboxAccessTokenFormat: Sendable, Hashable {
  /// Random strings that only the introspection endpoint can interpret.
  case opaque
  /// Signed JWTs, which a resource server can validate by itself.
  ///
  /// The audience is what the sign-in or the token request names in `resource` or `audience`, or
  /// the sandbox's issuer if they name nothing. With an HMAC algorithm, the tokens are opaque.
  ///
  /// - SeeAlso: RFC 9068
  case jwt(SandboxSigningAlgorithm)
}
