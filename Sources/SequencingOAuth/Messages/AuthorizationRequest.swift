import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The request that the user's browser carries to the authorization endpoint.
///
/// `state`, `nonce` and the code challenge are fresh for each sign-in.
///
/// - SeeAlso: RFC 6749, section 4.1.1; RFC 7636, section 4.3
struct AuthorizationRequest: Sendable, Redacted {
  let endpoint: URL
  let clientID: String
  /// With the port that was bound, exactly as the token request will repeat it.
  let redirectURI: String
  let scope: String?
  let state: String
  /// What an ID token that answers this request repeats; `nil` when none is asked for.
  let nonce: String?
  let pkce: PKCE
  let extraParameters: [FormCoding.Pair]

  /// The URL for the browser; the endpoint's own query stays in front (RFC 6749, section 3.1).
  func url() throws(SQOAuthError) -> URL {
    let endpoint = endpoint.absoluteString
    let separator = !endpoint.contains("?") ? "?" : endpoint.hasSuffix("?") ? "" : "&"
    guard let url = URL(string: endpoint + separator + FormCoding.encodeQuery(parameters)) else {
      throw SQOAuthError(.invalidConfiguration, "the authorization endpoint is not a URL")
    }
    return url
  }

  private var parameters: [FormCoding.Pair] {
    var pairs: [FormCoding.Pair] = [
      .init("response_type", "code"),
      .init("client_id", clientID),
      .init("redirect_uri", redirectURI),
    ]
    if let scope { pairs.append(.init("scope", scope)) }
    pairs.append(.init("state", state))
    pairs.append(.init("code_challenge", pkce.challenge))
    pairs.append(.init("code_challenge_method", PKCE.method))
    if let nonce { pairs.append(.init("nonce", nonce)) }
    return pairs + extraParameters
  }

  /// A new `nonce` for a request that asks for an ID token.
  ///
  /// OpenID providers may insist on one, though the code is bound by PKCE already.
  ///
  /// - SeeAlso: OpenID Connect Core 1.0, section 3.1.2.1
  static func freshNonce(scope: String?) -> String? {
    let asksForIDToken = scope?.split(separator: " ").contains("openid") == true
    return asksForIDToken ? RandomString.make() : nil
  }
}
