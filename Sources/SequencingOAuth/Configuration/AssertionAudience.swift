/// The name by which a server knows itself in what its clients sign.
///
/// - SeeAlso: RFC 7523, section 3
public enum AssertionAudience: Sendable, Hashable {
  /// The issuer identifier, or the token endpoint of a server without one.
  ///
  /// A server that another one pretends to be cannot be deceived with this name.
  case issuer
  /// The address of the token endpoint, also in requests to other endpoints.
  case tokenEndpoint
  /// The address of the endpoint to which the request goes.
  case requestedEndpoint
  /// Another name, by the server's documentation.
  case other(String)
}
