public import SequencingOAuth

/// The application's answer to a provider that has sent a logout token: a status and fields.
///
/// The answer needs no content.
///
/// ```swift
/// do {
///   try await accounts.handleLogoutToken(form: body, for: client)
///   return LogoutTokenResponse()
/// } catch {
///   return LogoutTokenResponse(error)
/// }
/// ```
///
/// - SeeAlso: OpenID Connect Back-Channel Logout 1.0, section 2.8
public struct LogoutTokenResponse: Sendable, Hashable {
  /// The status of the answer: 200 if the sessions ended, and 400 otherwise.
  ///
  /// With 400, the provider may send the token again.
  public let status: Int
  /// The fields of the answer: `Cache-Control: no-store`.
  public let fields: HeaderFields = ["Cache-Control": "no-store"]

  /// Creates the answer for the error of
  /// ``SequencingOAuth/AccountManager/handleLogoutToken(_:for:)``, or for none.
  ///
  /// Any error is a failure for the provider, also one of the store, or of reading the request.
  public init(_ error: (any Error)? = nil) {
    status = error == nil ? 200 : 400
  }
}
