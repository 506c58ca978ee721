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
  /// The status of the answer: 200 after success, and 400 after an error.
  ///
  /// With 400, the provider may send the token again.
  public let status: Int
  /// The fields of the answer: `Cache-Control: no-store`.
  public let fields: HeaderFields = ["Cache-Control": "no-store"]

  /// Creates the answer after ``SequencingOAuth/AccountManager/handleLogoutToken(_:for:)``; `error`
  /// is the error that it threw, or `nil`.
  ///
  /// Every error leads to status 400, even an error of the store or of reading the request.
  public init(_ error: (any Error)? = nil) {
    status = error == nil ? 200 : 400
  }
}
