/// A grant of another specification: an absolute URI as its type and parameters of its own.
///
/// - SeeAlso: RFC 6749, section 4.5
struct ExtensionGrant: Sendable {
  let client: RegisteredClient

  func run(
    grantType: String, parameters: [String: String], scope: String?
  ) async throws(SQOAuthError) -> SQToken {
    try Self.check(grantType)
    let extra = try ExtraParameters.check(
      parameters, reserved: ["grant_type", "scope", "client_id", "client_secret"],
      request: "token request")
    var pairs = [FormCoding.Pair("grant_type", grantType)] + extra
    if let scope { pairs.append(.init("scope", scope)) }
    let token = try await client.token(pairs, scope: scope)
    try client.checkScope(of: token)
    return token
  }

  /// Names that mean a grant with a method of its own, or one that is not offered.
  private static func check(_ grantType: String) throws(SQOAuthError) {
    switch grantType {
    case "implicit", "token":
      throw SQOAuthError(
        .unsupportedGrantType,
        "the implicit grant is not offered: its token travels in a URL, where it leaks and can be "
          + "exchanged (RFC 9700, section 2.1.2); use the code grant")
    case "authorization_code", "refresh_token", "password", "client_credentials":
      throw SQOAuthError(
        .invalidConfiguration, "the grant \"\(grantType)\" has a method of its own")
    case "":
      throw SQOAuthError(.invalidConfiguration, "the grant type is empty")
    default:
      return
    }
  }
}
