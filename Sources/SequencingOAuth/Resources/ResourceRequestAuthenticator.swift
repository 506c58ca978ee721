/// Decides how requests for protected resources carry their token.
///
/// The SDK calls it for each request, on any thread. It makes header fields only, because a token
/// in a URL would appear in logs and browser histories (RFC 9700, section 4.3.2).
public protocol ResourceRequestAuthenticator: Sendable {
  /// The header fields for a request with this token; they replace fields of the same names.
  func headerFields(for token: SQToken) -> HTTPFields
}

/// Puts the token into an `Authorization: Bearer` field.
///
/// - SeeAlso: RFC 6750, section 2.1
public struct BearerAuthenticator: ResourceRequestAuthenticator {
  /// Makes the authenticator, which has no settings.
  public init() {}

  /// The `Authorization` field with the token.
  ///
  /// Its scheme is always spelled `Bearer`, even if the server used another spelling.
  public func headerFields(for token: SQToken) -> HTTPFields {
    ["Authorization": "Bearer \(token.accessToken)"]
  }
}
