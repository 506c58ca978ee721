import SQBasics

/// An extension grant: a grant type that a different specification defines, with its own
/// parameters.
///
/// - SeeAlso: RFC 6749, section 4.5
struct ExtensionGrant: Sendable {
  let client: RegisteredClient
  /// The token requests under way; a cancelled caller's tokens are revoked.
  let tokenRequests: TokenRequests

  func run(
    grantType: String, parameters: [String: String], scope: String?
  ) async throws(SQOAuthError) -> SQToken {
    try Self.check(grantType)
    let extra = try ExtraParameters.check(
      parameters,
      reserved: [
        "grant_type", "scope", "client_id", "client_secret", "client_assertion",
        "client_assertion_type",
      ],
      request: "token request")
    var pairs = [FormCoding.Pair("grant_type", grantType)] + extra
    if let scope { pairs.append(.init("scope", scope)) }
    return try await client.token(ofUserBy: pairs, scope: scope, tokenRequests)
  }

  /// Throws if the grant type is empty, or if it is a grant of RFC 6749 itself.
  private static func check(_ grantType: String) throws(SQOAuthError) {
    switch grantType {
    case "implicit", "token":
      throw SQOAuthError(
        .unsupportedGrantType,
        "the SDK does not offer the implicit grant: its token travels in a URL, where it leaks and "
          + "can be replaced (RFC 9700, section 2.1.2); use the code grant")
    case "authorization_code", "refresh_token", "password", "client_credentials":
      throw SQOAuthError(
        .invalidConfiguration, "the grant \"\(grantType)\" has its own method: call that method")
    case "":
      throw SQOAuthError(.invalidConfiguration, "the grant type is empty")
    default:
      return
    }
  }
}
