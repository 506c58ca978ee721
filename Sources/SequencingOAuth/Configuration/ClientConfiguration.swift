public import Basics

/// A client of one authorization server, checked when it is made.
///
/// It holds the client secret, so treat it as one; printing it shows the client identifier only.
///
/// - SeeAlso: RFC 6749, section 2
public struct ClientConfiguration: Sendable, Hashable {
  private struct Values: Sendable, Hashable, Redacted {
    let clientID: String
    let clientSecret: String?
    let redirectURI: RedirectURI?
    let scope: String?
    let provider: Provider
    let clientAuthentication: ClientAuthentication?
    let authorizationParameters: [FormCoding.Pair]
    let tokenParameters: [FormCoding.Pair]
    let metadata: ProviderMetadata?
    let providerOrigins: Set<ResourceOrigin>
    var requiredScopes: Set<String> = []
    var timeout = Duration.seconds(60)
    var signInTimeout = Duration.seconds(300)
    var acceptsServersWithoutPKCE = false
    var allowsPasswordGrant = false
    var usesClientCredentials = false
    var resourceOrigins: Set<ResourceOrigin> = []
  }

  private var values: Boxed<Values>

  /// `client_id`.
  public var clientID: String { values.value.clientID }
  /// `client_secret`; `nil` for a public client, which is what an app on a user's machine is.
  public var clientSecret: String? { values.value.clientSecret }
  /// Where the user comes back to; `nil` for a client that signs nobody in, such as a daemon.
  public var redirectURI: RedirectURI? { values.value.redirectURI }
  /// What to ask for: scopes with spaces between them, sent as written; `nil` for the default.
  public var scope: String? { values.value.scope }
  /// The authorization server.
  public var provider: Provider { values.value.provider }
  /// How to authenticate; `nil` to go by the provider.
  public var clientAuthentication: ClientAuthentication? { values.value.clientAuthentication }
  var authorizationParameters: [FormCoding.Pair] { values.value.authorizationParameters }
  var tokenParameters: [FormCoding.Pair] { values.value.tokenParameters }
  /// The endpoints, where they were given by hand.
  var metadata: ProviderMetadata? { values.value.metadata }
  /// The servers of the provider's issuer and its endpoints.
  var providerOrigins: Set<ResourceOrigin> { values.value.providerOrigins }

  /// Scopes without which a token is of no use: a sign-in that grants fewer fails.
  public var requiredScopes: Set<String> {
    get { values.value.requiredScopes }
    set { values.value.requiredScopes = newValue }
  }
  /// The longest ``timeout``: other processes wait for an account somewhat longer than that.
  static let longestTimeout = Duration.seconds(100)

  /// How long one request may take: 60 s unless set, and 100 s at most.
  ///
  /// A longer time counts as 100 s, because other processes that need the account wait for this one
  /// for no more than 120 s. It holds for every request to the server, from the call to the last
  /// byte of the answer, however long the server is silent meanwhile; and for requests with the
  /// token and the operations of a pipe that set no limit of their own.
  ///
  /// A refresh must have a connection within this time, and then waits for its answer for 100 s: a
  /// server that replaces refresh tokens may have replaced this one already.
  public var timeout: Duration {
    get { values.value.timeout }
    set { values.value.timeout = min(max(newValue, .zero), Self.longestTimeout) }
  }
  /// How long the user may take from the opening of the browser to the redirect; 300 s unless set.
  public var signInTimeout: Duration {
    get { values.value.signInTimeout }
    set { values.value.signInTimeout = newValue.bounded }
  }
  /// Accept a server whose metadata lists code challenge methods without `S256`.
  ///
  /// The challenge is sent all the same; only the early refusal goes.
  public var acceptsServersWithoutPKCE: Bool {
    get { values.value.acceptsServersWithoutPKCE }
    set { values.value.acceptsServersWithoutPKCE = newValue }
  }
  /// Allow the password grant, which shows the user's password to the app.
  ///
  /// - SeeAlso: RFC 9700, section 2.4, which says that it must not be used
  public var allowsPasswordGrant: Bool {
    get { values.value.allowsPasswordGrant }
    set { values.value.allowsPasswordGrant = newValue }
  }
  /// Get tokens in the client's own name, without a user.
  ///
  /// Where there is no token, ``AuthorizationModule/token()``, requests and pipes get one by the client
  /// credentials grant, for the ``scope``, and replace it in the same way when it expires. However many
  /// callers need it at a time, one request is made. It needs a client secret and no redirect URI.
  ///
  /// - SeeAlso: RFC 6749, section 4.4
  public var usesClientCredentials: Bool {
    get { values.value.usesClientCredentials }
    set { values.value.usesClientCredentials = newValue }
  }
  /// The servers that may see the tokens; a list that is not empty has all of them.
  ///
  /// Without a list, which is the default, tokens go to:
  ///
  /// - the provider's own servers: its issuer's, its endpoints', and those of the APIs that a preset
  ///   such as ``Provider/google`` names;
  /// - the servers that the app names, each by a ``Pipeline/Pipe``, by an `RPCChannel` or by
  ///   ``AuthorizationModule/allowTokens(at:)``;
  /// - where neither names an API, the server of the first request that the app sends or
  ///   authenticates.
  ///
  /// A request to any other server fails with ``SQOAuthError/Code/originNotAllowed``. Whatever is
  /// listed, a token goes to https, or to http on a loopback address.
  ///
  /// - SeeAlso: RFC 9700, section 4.9
  public var resourceOrigins: Set<ResourceOrigin> {
    get { values.value.resourceOrigins }
    set { values.value.resourceOrigins = newValue }
  }

  /// Checks the parameters; no request is made.
  ///
  /// Throws ``SQOAuthError/Code/invalidConfiguration`` or
  /// ``SQOAuthError/Code/insecureEndpoint`` with what to change.
  ///
  /// The SDK receives the redirect to a loopback address, and the app any other. An app whose own
  /// web server has the loopback port sets `redirectReceiver` to ``RedirectReceiver/app``.
  ///
  /// The provider has no default, so no app sends its users and its secret to a server that it did
  /// not name. The two dictionaries add parameters to the provider's own and win over them; a
  /// parameter of the protocol itself in either is an error.
  public init(
    clientID: String, clientSecret: String? = nil, redirectURI: String? = nil,
    redirectReceiver: RedirectReceiver? = nil, scope: String? = nil,
    provider: Provider, clientAuthentication: ClientAuthentication? = nil,
    authorizationParameters: [String: String] = [:], tokenParameters: [String: String] = [:]
  ) throws(SQOAuthError) {
    guard !clientID.isEmpty else {
      throw SQOAuthError(.invalidConfiguration, "the client identifier is empty")
    }
    // An empty secret is how a form field says that there is none.
    let clientSecret = clientSecret?.isEmpty == true ? nil : clientSecret
    let redirect: RedirectURI? =
      if let redirectURI { try RedirectURI(redirectURI, receiver: redirectReceiver) } else { nil }
    try Self.check(
      clientAuthentication, providers: provider.clientAuthentication, id: clientID,
      secret: clientSecret)
    values = Boxed(
      Values(
        clientID: clientID, clientSecret: clientSecret,
        redirectURI: redirect,
        scope: scope?.isEmpty == true ? nil : scope, provider: provider,
        clientAuthentication: clientAuthentication,
        authorizationParameters: try ExtraParameters.check(
          provider.authorizationParameters.merging(authorizationParameters) { $1 },
          reserved: ExtraParameters.reservedForAuthorization, request: "authorization request"),
        tokenParameters: try ExtraParameters.check(
          provider.tokenParameters.merging(tokenParameters) { $1 },
          reserved: ExtraParameters.reservedForToken, request: "token request"),
        metadata: try Self.metadata(of: provider), providerOrigins: provider.origins))
  }

  /// Checks the parameters of a client whose scopes are a list, sent with a space between them.
  public init(
    clientID: String, clientSecret: String? = nil, redirectURI: String? = nil,
    redirectReceiver: RedirectReceiver? = nil, scopes: [String],
    provider: Provider, clientAuthentication: ClientAuthentication? = nil,
    authorizationParameters: [String: String] = [:], tokenParameters: [String: String] = [:]
  ) throws(SQOAuthError) {
    try self.init(
      clientID: clientID, clientSecret: clientSecret, redirectURI: redirectURI,
      redirectReceiver: redirectReceiver, scope: scopes.joined(separator: " "), provider: provider,
      clientAuthentication: clientAuthentication,
      authorizationParameters: authorizationParameters, tokenParameters: tokenParameters)
  }

  /// The endpoints that were given by hand, checked; of an issuer the address is.
  private static func metadata(of provider: Provider) throws(SQOAuthError) -> ProviderMetadata? {
    switch provider.source {
    case .endpoints(let endpoints):
      return try ProviderMetadata(endpoints)
    case .issuer(let issuer):
      _ = try Discovery(issuer: issuer, timeout: .zero).addresses()
      return nil
    }
  }
}

extension ClientConfiguration: Redacted {
  /// The client identifier and the provider's name.
  public var description: String { "client \(clientID) of \(provider.name)" }
}
