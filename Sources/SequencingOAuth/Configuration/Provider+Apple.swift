extension Provider {
  /// Creates the provider for "Sign in with Apple" and the clients of a developer's team.
  ///
  /// Apple has no fixed client secret. For each request, the client signs a new one with the
  /// ``ClientConfiguration/clientKey``: an ES256 key with the ``ClientKey/keyID`` that Apple shows
  /// beside it. `teamID` is the team's identifier of ten characters. The client identifier is the
  /// "Services ID".
  ///
  /// Apple redirects only to an `https` address with a domain name. For the scopes `name` and
  /// `email`, Apple posts the redirect, so such a sign-in needs `SignInOptions.responseMode`
  /// ``SignInOptions/ResponseMode/formPost``. Apple names the user (`user` in
  /// ``SQToken/redirectParameters``) only at the first sign-in. A refresh token stays valid after a
  /// refresh. A revocation ends all of the app's tokens for the user. Apple has no API for the
  /// tokens and no UserInfo endpoint.
  public static func apple(teamID: String) -> Provider {
    var provider = Provider(
      name: "Apple", baseURL: "https://appleid.apple.com",
      authorizationEndpoint: "auth/authorize", tokenEndpoint: "auth/token",
      revocationEndpoint: "auth/revoke", jwksURI: "auth/keys", issuer: "https://appleid.apple.com")
    provider.clientAuthentication = .signedSecret
    provider.assertionIssuer = teamID
    provider.reusesRefreshTokens = true
    provider.revocationEndsGrant = true
    if teamID.isEmpty {
      provider.fault = "Apple needs the identifier of the developer's team (teamID)"
    }
    return provider
  }
}
