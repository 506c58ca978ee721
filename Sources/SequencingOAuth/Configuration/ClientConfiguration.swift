/// A client of one authorization server, checked when it is made.
///
/// It holds the client secret, so treat it as one; printing it shows the client identifier only.
///
/// - SeeAlso: RFC 6749, section 2
public struct ClientConfiguration: Sendable, Hashable {
  /// `client_id`.
  public let clientID: String
  /// `client_secret`; `nil` for a public client, which is what an app on a user's machine is.
  public let clientSecret: String?
  /// Where the user comes back to; `nil` for a client that signs nobody in, such as a daemon.
  public let redirectURI: RedirectURI?
  /// What to ask for: scopes with spaces between them, sent as written; `nil` for the default.
  public let scope: String?
  /// The authorization server.
  public let provider: Provider
  /// How to authenticate; `nil` to go by the provider.
  public let clientAuthentication: ClientAuthentication?
  let authorizationParameters: [FormCoding.Pair]
  let tokenParameters: [FormCoding.Pair]
  let metadata: ProviderMetadata?

  /// Scopes without which a token is of no use: a sign-in that grants fewer fails.
  public var requiredScopes: Set<String> = []
  /// How long one request to the server may take.
  public var timeout: Duration = .seconds(60)
  /// How long the user may take from the opening of the browser to the redirect.
  public var signInTimeout: Duration = .seconds(300)
  /// Accept a server whose metadata lists code challenge methods without `S256`.
  ///
  /// The challenge is sent all the same; only the early refusal goes.
  public var acceptsServersWithoutPKCE = false
  /// Allow the password grant, which shows the user's password to the app.
  ///
  /// - SeeAlso: RFC 9700, section 2.4, which says that it must not be used
  public var allowsPasswordGrant = false
  /// Where the tokens may be sent; empty for every https origin, and http on a loopback address.
  public var resourceOrigins: Set<ResourceOrigin> = []

  /// Checks the parameters; no request is made.
  ///
  /// Throws ``SQOAuthError/Code/invalidConfiguration`` or
  /// ``SQOAuthError/Code/insecureEndpoint`` with what to change.
  ///
  /// The two dictionaries add parameters to the provider's own and win over them; a parameter of
  /// the protocol itself in either is an error.
  public init(
    clientID: String, clientSecret: String? = nil, redirectURI: String? = nil,
    scope: String? = nil,
    provider: Provider = .sequencing, clientAuthentication: ClientAuthentication? = nil,
    authorizationParameters: [String: String] = [:], tokenParameters: [String: String] = [:]
  ) throws(SQOAuthError) {
    guard !clientID.isEmpty else {
      throw SQOAuthError(.invalidConfiguration, "the client identifier is empty")
    }
    self.clientID = clientID
    // An empty secret is how a form field says that there is none.
    self.clientSecret = clientSecret?.isEmpty == true ? nil : clientSecret
    self.redirectURI = if let redirectURI { try RedirectURI(redirectURI) } else { nil }
    self.scope = scope?.isEmpty == true ? nil : scope
    self.provider = provider
    self.clientAuthentication = clientAuthentication
    self.authorizationParameters = try ExtraParameters.check(
      provider.authorizationParameters.merging(authorizationParameters) { $1 },
      reserved: ExtraParameters.reservedForAuthorization, request: "authorization request")
    self.tokenParameters = try ExtraParameters.check(
      provider.tokenParameters.merging(tokenParameters) { $1 },
      reserved: ExtraParameters.reservedForToken, request: "token request")
    switch provider.source {
    case .endpoints(let endpoints):
      metadata = try ProviderMetadata(endpoints)
    case .issuer(let issuer):
      metadata = nil
      _ = try Discovery(issuer: issuer, timeout: .zero).addresses()
    }
    try checkAuthentication()
  }

  /// The same with a list of scopes, which are sent with a space between them.
  public init(
    clientID: String, clientSecret: String? = nil, redirectURI: String? = nil,
    scopes: [String],
    provider: Provider = .sequencing, clientAuthentication: ClientAuthentication? = nil,
    authorizationParameters: [String: String] = [:], tokenParameters: [String: String] = [:]
  ) throws(SQOAuthError) {
    try self.init(
      clientID: clientID, clientSecret: clientSecret, redirectURI: redirectURI,
      scope: scopes.joined(separator: " "), provider: provider,
      clientAuthentication: clientAuthentication,
      authorizationParameters: authorizationParameters, tokenParameters: tokenParameters)
  }

  private func checkAuthentication() throws(SQOAuthError) {
    switch clientAuthentication {
    case nil, .publicClient?:
      break
    case .basic?, .post?:
      guard clientSecret != nil else {
        throw SQOAuthError(
          .invalidConfiguration, "authentication by Basic or in the body needs a client secret")
      }
    case let other?:
      throw SQOAuthError(
        .invalidConfiguration,
        "\"\(ErrorResponse.clean(other.rawValue))\" is not a client authentication of this SDK")
    }
  }
}

extension ClientConfiguration: CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The client identifier and the provider's name.
  public var description: String { "client \(clientID) of \(provider.name)" }
  /// The same as ``description``.
  public var debugDescription: String { description }
  /// The same as ``description``, so that `dump` shows no secret either.
  public var customMirror: Mirror { Mirror(self, children: ["client": description]) }
}
