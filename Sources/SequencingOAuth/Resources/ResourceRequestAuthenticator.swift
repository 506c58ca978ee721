/// Says how a request for a protected resource shows its token.
///
/// It is called for each request, on no particular thread, and makes header fields only: a token
/// in a URL would stand in logs and histories (RFC 9700, section 4.3.2).
public protocol ResourceRequestAuthenticator: Sendable {
  /// The fields that a request gets; they replace those of the same names.
  func headerFields(for token: SQToken) -> HTTPFields
}

/// `Authorization: Bearer` and the token.
///
/// - SeeAlso: RFC 6750, section 2.1
public struct BearerAuthenticator: ResourceRequestAuthenticator {
  /// Makes the authenticator.
  public init() {}

  /// The one field, with the scheme in the RFC's spelling whatever the server wrote.
  public func headerFields(for token: SQToken) -> HTTPFields {
    ["Authorization": "Bearer \(token.accessToken)"]
  }
}
