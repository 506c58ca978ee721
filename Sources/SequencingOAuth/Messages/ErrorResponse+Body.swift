import SQBasics
package import SQFoundation

extension ErrorResponse {
  /// Parses the error object of RFC 6749, section 5.2; `nil` if the body is not such an object.
  ///
  /// The request's secrets are removed from the server's texts.
  package init?(body: Data, removing secrets: SentSecrets) {
    guard let members = JSONMessage.members(of: body) else { return nil }
    self.init(members: members, removing: secrets)
  }

  /// Creates an error from a JSON object's members; `nil` if they contain no error.
  init?(members: [String: JSONValue], removing secrets: SentSecrets) {
    guard let error = members["error"]?.string, !error.printable.isEmpty else { return nil }
    // The texts only help a developer; if one of them is not a string, the code is still used.
    let description = members["error_description"]?.string
    let uri = members["error_uri"]?.string
    self.init(
      // A code of the protocol is not a secret, even if it is equal to a password.
      error: Self.codes.contains(error) ? error : secrets.removed(from: error),
      errorDescription: description.flatMap(secrets.removed(fromSentence:)),
      errorURI: uri.map(secrets.removed(from:)))
  }

  /// The standard codes that servers send for errors in a body.
  ///
  /// RFC 6749, 7009, 7591, 8628, 8693, 8707 and 9449 define most of them. Some servers also send
  /// codes that are defined for other responses: `server_error` and `temporarily_unavailable` of
  /// RFC 6749, section 4.1.2.1; `invalid_token` of RFC 6750; `interaction_required`,
  /// `login_required` and `consent_required` of OpenID Connect Core 1.0, section 3.1.2.6.
  private static let codes: Set<String> = [
    "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client",
    "unsupported_grant_type", "invalid_scope", "server_error", "temporarily_unavailable",
    "access_denied", "authorization_pending", "slow_down", "expired_token", "invalid_target",
    "unsupported_token_type", "use_dpop_nonce", "invalid_dpop_proof", "invalid_token",
    "invalid_redirect_uri", "invalid_client_metadata", "invalid_software_statement",
    "unapproved_software_statement", "interaction_required", "login_required", "consent_required",
  ]
}
