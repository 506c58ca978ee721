import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The code grant of one sign-in, whose configuration was checked before the user sees a page.
struct PreparedCodeGrant: Sendable, Redacted {
  let question: SignInQuestion
  let redirect: RedirectURI
  let authorizationEndpoint: URL

  /// Checks all that can be checked without a request.
  init(_ options: SignInOptions, _ client: RegisteredClient) throws(SQOAuthError) {
    _ = try client.unprovenCredentials(supported: nil)
    try Self.checkPKCE(client)
    question = try SignInQuestion(options, client)
    guard let redirect = client.configuration.redirectURI else {
      throw SQOAuthError(
        .invalidConfiguration, "the client has no redirect URI, so it cannot sign users in")
    }
    self.redirect = redirect
    guard let endpoint = client.metadata.authorizationEndpoint else {
      throw SQOAuthError(
        .invalidConfiguration,
        "the provider has no authorization endpoint, to which users go to sign in")
    }
    authorizationEndpoint = endpoint
  }

  /// RFC 9700, section 2.1.1: without S256 anyone could redeem a stolen code.
  private static func checkPKCE(_ client: RegisteredClient) throws(SQOAuthError) {
    guard let methods = client.metadata.codeChallengeMethods, !methods.contains(PKCE.method),
      !client.configuration.acceptsServersWithoutPKCE
    else { return }
    throw SQOAuthError(
      .pkceUnsupported,
      "the server's metadata does not list the code challenge method S256; "
        + "set acceptsServersWithoutPKCE if you accept that")
  }
}
