/// A type that determines how requests for protected resources carry their token.
///
/// The SDK calls it for each request, on any thread. It creates only header fields, because a token
/// in a URL would appear in logs and browser histories (RFC 9700, section 4.3.2).
public protocol ResourceRequestAuthenticator: Sendable {
  /// Returns the header fields for a request with this token; they replace fields with these names.
  func headerFields(for token: SQToken) -> HeaderFields
}

/// An authenticator that sends the token in an `Authorization: Bearer` field.
///
/// - SeeAlso: RFC 6750, section 2.1
public struct BearerRequestAuthenticator: ResourceRequestAuthenticator {
  /// Creates an authenticator without settings.
  public init() {}

  /// Returns the `Authorization` field with the token.
  ///
  /// Its scheme is always spelled `Bearer`, even if the server used another spelling.
  public func headerFields(for token: SQToken) -> HeaderFields {
    ["Authorization": "Bearer \(token.accessToken)"]
  }
}
