import SQBasics
import SQFoundation

/// The authorization request that the user's browser sends to the authorization endpoint.
///
/// Each sign-in has a new `state`, `nonce` and code challenge.
///
/// - SeeAlso: RFC 6749, section 4.1.1; RFC 7636, section 4.3
struct AuthorizationRequest: Sendable, Redacted {
  let endpoint: URL
  let clientID: String
  /// The redirect URI, with the port if the SDK listens on one; the token request repeats it
  /// unchanged.
  let redirectURI: String
  let scope: String?
  let state: String
  /// The value that the ID token must repeat; `nil` if the request asks for no ID token.
  let nonce: String?
  let pkce: PKCE
  let extraParameters: [FormCoding.Pair]

  /// The names of the protocol's own parameters, whether or not a request has them.
  private static let names: Set<String> = [
    "response_type", "client_id", "redirect_uri", "scope", "state", "nonce", "code_challenge",
    "code_challenge_method", "request", "request_uri",
  ]

  /// Throws if an endpoint's own query has a parameter that the SDK sets.
  ///
  /// The SDK sets `parameters` and the protocol's own parameters, such as `state`. The server
  /// might use the value in the endpoint's query instead of the SDK's value.
  ///
  /// - SeeAlso: RFC 6749, section 3.1: a parameter must not be included more than once
  static func check(
    _ endpoint: URL, adding parameters: [FormCoding.Pair] = []
  ) throws(SQOAuthError) {
    let query = endpoint.query(percentEncoded: true) ?? ""
    let taken = Self.names.union(parameters.map(\.name))
    guard let name = FormCoding.mend(query[...]).map(\.name).first(where: taken.contains) else {
      return
    }
    throw SQOAuthError(
      .signInUnsupported,
      "the authorization endpoint's query already has the parameter \"\(name.printable)\", which "
        + "the SDK sets; correct the endpoint")
  }

  /// Returns the URL for the browser with these parameters; the endpoint's own query comes first.
  ///
  /// - Throws: ``SQOAuthError/Code/signInUnsupported`` if that query has one of the parameters.
  /// - SeeAlso: RFC 6749, section 3.1
  func url(with parameters: [FormCoding.Pair]) throws(SQOAuthError) -> URL {
    try Self.check(endpoint, adding: parameters)
    guard let url = FormCoding.url(endpoint, adding: parameters) else {
      throw SQOAuthError(.invalidConfiguration, "the authorization endpoint is not a URL")
    }
    return url
  }

  /// Returns the URL for the browser after the server has accepted the pushed parameters.
  ///
  /// It has only the client's identifier and the reference, because the server would ignore other
  /// parameters.
  ///
  /// - SeeAlso: RFC 9126, section 4; RFC 9101, section 5
  func url(pushedAs requestURI: String) throws(SQOAuthError) -> URL {
    try url(with: [.init("client_id", clientID), .init("request_uri", requestURI)])
  }

  /// The parameters of the request, in order.
  var parameters: [FormCoding.Pair] {
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
}
