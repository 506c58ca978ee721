/// The name of the server in the assertions that a client signs for it (`aud`).
///
/// - SeeAlso: RFC 7523, section 3
public enum AssertionAudience: Sendable, Hashable {
  /// The issuer identifier, or the token endpoint if the server has no issuer.
  ///
  /// With this name, no other server can use the assertion to impersonate the client.
  case issuer
  /// The address of the token endpoint, even in requests to other endpoints.
  case tokenEndpoint
  /// The address of the endpoint that receives the request.
  case requestedEndpoint
  /// A name from the server's documentation.
  case other(String)
}
