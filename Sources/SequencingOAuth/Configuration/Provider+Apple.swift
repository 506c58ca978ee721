extension Provider {
  /// Creates Apple, "Sign in with Apple", for the clients of a developer's team.
  ///
  /// Apple has no fixed client secret: the client signs one for each request with the
  /// ``ClientConfiguration/clientKey``, an ES256 key whose ``ClientKey/keyID`` Apple shows beside
  /// it. `teamID` is the team's identifier of ten characters. The client is the "Services ID".
  ///
  /// Apple redirects only to an `https` address with a domain name. For the scopes `name` and
  /// `email` it posts the redirect, so such a sign-in needs `SignInOptions.responseMode`
  /// ``SignInOptions/ResponseMode/formPost``. It names the user (`user` in
  /// ``SQToken/redirectParameters``) only at the first sign-in. Refresh tokens stay valid. No API
  /// gets the tokens, and there is no UserInfo endpoint.
  public static func apple(teamID: String) -> Provider {
    var provider = Provider(
      name: "Apple", baseURL: "https://appleid.apple.com",
      authorizationEndpoint: "auth/authorize", tokenEndpoint: "auth/token",
      revocationEndpoint: "auth/revoke", jwksURI: "auth/keys", issuer: "https://appleid.apple.com")
    provider.clientAuthentication = .signedSecret
    provider.assertionIssuer = teamID
    provider.reusesRefreshTokens = true
    if teamID.isEmpty {
      provider.fault = "Apple needs the identifier of the developer's team (teamID)"
    }
    return provider
  }
}
