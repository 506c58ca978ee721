/// The server's name in the assertions that its clients sign (`aud`).
///
/// - SeeAlso: RFC 7523, section 3
public enum AssertionAudience: Sendable, Hashable {
  /// The issuer identifier, or the token endpoint of a server without one.
  ///
  /// With this name, no other server can use the assertion to impersonate the client.
  case issuer
  /// The address of the token endpoint, even in requests to other endpoints.
  case tokenEndpoint
  /// The address of the endpoint that receives the request.
  case requestedEndpoint
  /// Another name, from the server's documentation.
  case other(String)
}
