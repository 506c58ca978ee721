public import SQFoundation
public import SequencingOAuth

// Logout tokens in the body of the provider's request.

extension AccountManager {
  /// Ends every session in the store that the logout token in a provider's request names.
  ///
  /// `form` is the body of the POST request. For everything else, see
  /// ``handleLogoutToken(_:for:)``.
  ///
  /// - Returns: The identifiers of the accounts whose sessions ended.
  /// - Throws: `SQOAuthError.Code.logoutTokenInvalid` if the body is not a form with one
  ///   `logout_token`; the errors of ``handleLogoutToken(_:for:)``.
  /// - SeeAlso: OpenID Connect Back-Channel Logout 1.0, section 2.5
  @discardableResult
  public func handleLogoutToken(
    form: Data, for configuration: ClientConfiguration
  ) async throws(SQOAuthError) -> [String] {
    try await handleLogoutToken(try LogoutToken.text(inForm: form), for: configuration)
  }
}

extension AccountOperations {
  /// Ends the session if the logout token in a provider's request names it.
  ///
  /// `form` is the body of the POST request. For everything else, see ``handleLogoutToken(_:)``.
  ///
  /// - Returns: The validated token, and whether it named this session.
  /// - Throws: `SQOAuthError.Code.logoutTokenInvalid` if the body is not a form with one
  ///   `logout_token`; the errors of ``handleLogoutToken(_:)``.
  /// - SeeAlso: OpenID Connect Back-Channel Logout 1.0, section 2.5
  @discardableResult
  public func handleLogoutToken(form: Data) async throws(SQOAuthError) -> LogoutTokenOutcome {
    try await handleLogoutToken(try LogoutToken.text(inForm: form))
  }
}

extension LogoutToken {
  /// Returns the only `logout_token` in the body of a provider's request.
  static func text(inForm form: Data) throws(SQOAuthError) -> String {
    let values = FormCoding.mend(String(decoding: form, as: UTF8.self))
      .filter { $0.name == "logout_token" }.map(\.value)
    guard values.count == 1 else {
      throw SQOAuthError(
        .logoutTokenInvalid,
        "the logout request must have exactly one parameter logout_token; no session ended")
    }
    return values[0]
  }
}
