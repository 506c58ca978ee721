import SQBasics
import SQFoundation

/// A request from the browser to end the user's session at the provider.
///
/// - SeeAlso: OpenID Connect RP-Initiated Logout 1.0, section 2
struct EndSessionRequest: Sendable, Redacted {
  let endpoint: URL
  let clientID: String
  /// The user's ID token; without it, the provider may ask which user to log out.
  let idTokenHint: String?
  /// The URI to which the provider sends the browser after the logout; `nil` for the provider's
  /// page.
  let redirectURI: String?
  let state: String
  let logoutHint: String?
  let uiLocales: [String]

  /// Returns the URL for the browser.
  func url() throws(SQOAuthError) -> URL {
    guard let url = FormCoding.url(endpoint, adding: parameters) else {
      throw SQOAuthError(.invalidConfiguration, "the end session endpoint is not a URL")
    }
    return url
  }

  private var parameters: [FormCoding.Pair] {
    var pairs: [FormCoding.Pair] = []
    if let idTokenHint { pairs.append(.init("id_token_hint", idTokenHint)) }
    pairs.append(.init("client_id", clientID))
    if let redirectURI {
      pairs.append(.init("post_logout_redirect_uri", redirectURI))
      pairs.append(.init("state", state))
    }
    if let logoutHint { pairs.append(.init("logout_hint", logoutHint)) }
    if !uiLocales.isEmpty {
      pairs.append(.init("ui_locales", uiLocales.joined(separator: " ")))
    }
    return pairs
  }
}
