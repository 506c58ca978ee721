public import SQBasics

/// The validated configuration of a client at one authorization server.
///
/// The initializer checks its parameters, except the scope. The value contains the client secret,
/// so protect it like a password. Printing it shows only the client identifier and the provider's
/// name.
///
/// - SeeAlso: RFC 6749, section 2
public struct ClientConfiguration: Sendable, Hashable {
  struct Values: Sendable, Hashable, Redacted {
    let clientID: String
    let clientSecret: String?
    let clientKey: ClientKey?
    let clientAssertionSource: AssertionSource?
    var redirectURI: RedirectURI?
    var scope: String?
    let provider: Provider
    let clientAuthentication: ClientAuthentication?
    var authorizationParameters: [FormCoding.Pair]
    var tokenParameters: [FormCoding.Pair]
    let metadata: ProviderMetadata?
    let providerOrigins: Set<ResourceOrigin>
    var resources: [String] = []
    var requiredScopes: Set<String> = []
    var expectedSubject: String?
    var acceptsServersOnThisComputer = true
    var timeout = Duration.seconds(60)
    var signInTimeout = Duration.seconds(300)
    var acceptsServersWithoutPKCE = false
    var requiresListedPKCE = false
    var allowsPasswordGrant = false
    var usesClientCredentials = false
    var pushesAuthorizationRequests = false
    var tokenBinding: TokenBinding?
    var profile = SecurityProfile.standard
    var signsAuthorizationRequests = false
    var authorizationResponseAlgorithm: JWSAlgorithm?
    var idTokenAlgorithm: JWSAlgorithm?
    var userInfoAlgorithm: JWSAlgorithm?
    var trustedAudiences: Set<String> = []
    var postLogoutRedirectURI: RedirectURI?
    var clockTolerance = Duration.seconds(60)
    var resourceOrigins: Set<ResourceOrigin> = []
    var grantAssertionSource: AssertionSource?
    var endNotice = Duration.seconds(86_400)
  }

  var values: Boxed<Values>

  /// The client identifier, `client_id`, that the server gave the app.
  public var clientID: String { values.value.clientID }
  /// The client secret, `client_secret`; `nil` for a public client, such as an app on a user's
  /// machine.
  public var clientSecret: String? { values.value.clientSecret }
  /// The key with which the client authenticates or signs assertions; `nil` for none.
  public var clientKey: ClientKey? { values.value.clientKey }
  /// The URI to which the server sends the user back; `nil` for a client without user sign-ins,
  /// such as a daemon.
  public var redirectURI: RedirectURI? { values.value.redirectURI }
  /// The scopes to request, separated by spaces and sent as written; `nil` for the server's
  /// default.
  public package(set) var scope: String? {
    get { values.value.scope }
    set { values.value.scope = newValue }
  }
  /// The authorization server that issues the tokens.
  public var provider: Provider { values.value.provider }
  /// How the client authenticates; `nil` lets the provider and its metadata decide.
  public var clientAuthentication: ClientAuthentication? { values.value.clientAuthentication }
  var authorizationParameters: [FormCoding.Pair] { values.value.authorizationParameters }
  var tokenParameters: [FormCoding.Pair] { values.value.tokenParameters }
  /// The endpoints from the app; `nil` if the SDK discovers them.
  var metadata: ProviderMetadata? { values.value.metadata }
  /// The provider's servers that the configuration names: its issuer, or the app's endpoints.
  var providerOrigins: Set<ResourceOrigin> { values.value.providerOrigins }

  /// The longest ``timeout``; other processes wait somewhat longer than this for an account.
  static let longestTimeout = Duration.seconds(100)

  /// The time limit of one request: 60 s by default, and 100 s at most.
  ///
  /// A longer time counts as 100 s, because other processes that need the account wait at most 120
  /// s for this process. The limit covers the time from the call to the last byte of the response.
  /// It applies to every request to the authorization server, and to all addresses of its metadata
  /// together. It also applies to requests with the token and to operations of a pipe, unless they
  /// set their own limit.
  ///
  /// A refresh is an exception: its connection must be made within this time, and then it waits for
  /// the response until 100 s after the call, because the server may already have replaced the
  /// refresh token. Callers that need the new token wait for this time plus at most a quarter of a
  /// second. Then they get ``SQOAuthError/Code/requestTimedOut``, and the refresh continues.
  public var timeout: Duration {
    get { values.value.timeout }
    set { values.value.timeout = min(max(newValue, .zero), Self.longestTimeout) }
  }
  /// The time limit of a sign-in, from the opening of the browser to the redirect: 300 s by
  /// default.
  ///
  /// The time starts again if the server rejects an expired pushed request and the SDK opens the
  /// browser again.
  public var signInTimeout: Duration {
    get { values.value.signInTimeout }
    set { values.value.signInTimeout = newValue.bounded }
  }
  /// Whether to accept a server whose metadata lists code challenge methods, but not `S256`.
  ///
  /// If `false`, the default, or with any ``profile`` except ``SecurityProfile/standard``, a
  /// sign-in at such a server fails before the browser opens. The SDK always sends the challenge.
  public var acceptsServersWithoutPKCE: Bool {
    get { values.value.acceptsServersWithoutPKCE }
    set { values.value.acceptsServersWithoutPKCE = newValue }
  }
  /// Whether to refuse a server whose metadata lists no code challenge methods; `false` by default.
  ///
  /// Many servers support PKCE but do not list it. If the value is `true`, or with any ``profile``
  /// except ``SecurityProfile/standard``, a sign-in at such a server fails before the browser
  /// opens.
  ///
  /// - SeeAlso: RFC 8414, section 2 (`code_challenge_methods_supported`)
  public var requiresListedPKCE: Bool {
    get { values.value.requiresListedPKCE }
    set { values.value.requiresListedPKCE = newValue }
  }
  /// Whether to push the request of each sign-in with a browser to the server; `false` by default.
  ///
  /// The client then authenticates and sends the request's parameters to the server itself, and the
  /// browser gets only a reference to them. On the way, the parameters can be neither read nor
  /// changed. The SDK always pushes the request if the server's metadata requires it. If the
  /// request must be pushed, but the server has no endpoint for that, the sign-in fails before the
  /// browser opens; the SDK does not fall back to a plain request.
  ///
  /// - SeeAlso: RFC 9126
  public var pushesAuthorizationRequests: Bool {
    get { values.value.pushesAuthorizationRequests }
    set { values.value.pushesAuthorizationRequests = newValue }
  }
  /// The rules that the client follows in addition to OAuth 2; ``SecurityProfile/standard`` by
  /// default.
  ///
  /// A profile turns on everything that it needs. A sign-in at a server that does not support the
  /// profile fails before the browser opens, and the error names what the server's metadata lacks.
  public var profile: SecurityProfile {
    get { values.value.profile }
    set { values.value.profile = newValue }
  }
  /// Whether to sign the request of each sign-in with a browser with the ``clientKey``; `false` by
  /// default.
  ///
  /// A signed request cannot be changed on its way, and the server knows which client made it. The
  /// SDK always signs the request if the server's metadata requires it.
  ///
  /// - SeeAlso: RFC 9101
  public var signsAuthorizationRequests: Bool {
    get { values.value.signsAuthorizationRequests }
    set { values.value.signsAuthorizationRequests = newValue }
  }
  /// The algorithm with which the server signs the responses of sign-ins; `nil` for responses
  /// without a signature.
  ///
  /// If it is set, the client asks for a signed response, and refuses a response that is not signed
  /// with this algorithm by the issuer for this client. Set the algorithm that the client is
  /// registered with (`authorization_signed_response_alg`). With the profile
  /// ``SecurityProfile/fapi2MessageSigning``, every response is signed; `nil` then accepts the
  /// algorithms that the profile allows and the server lists.
  ///
  /// - SeeAlso: JWT Secured Authorization Response Mode for OAuth 2.0 (JARM)
  public var authorizationResponseAlgorithm: JWSAlgorithm? {
    get { values.value.authorizationResponseAlgorithm }
    set { values.value.authorizationResponseAlgorithm = newValue }
  }
  /// How to bind the client's tokens to a key or a certificate, so that a thief cannot use them.
  ///
  /// By default it is `nil`, and the tokens are Bearer tokens; with a FAPI profile, they are bound
  /// to a key. With a key, the client refuses a response with a Bearer token
  /// (``SQOAuthError/Code/tokenNotBound``). With a certificate, the type of the tokens stays
  /// Bearer. The setting takes effect with each account's next sign-in, or with the next token that
  /// a client gets without a user and without a refresh token. Until then, an account keeps its
  /// tokens and its key.
  ///
  /// - SeeAlso: RFC 9449
  public var tokenBinding: TokenBinding? {
    get { values.value.tokenBinding }
    set { values.value.tokenBinding = newValue }
  }
  /// Whether the app may use the password grant; `false` by default.
  ///
  /// The grant reveals the user's password to the app.
  ///
  /// - SeeAlso: RFC 9700, section 2.4 (the grant must not be used)
  public var allowsPasswordGrant: Bool {
    get { values.value.allowsPasswordGrant }
    set { values.value.allowsPasswordGrant = newValue }
  }
  /// Whether to get tokens in the client's own name, without a user; `false` by default.
  ///
  /// ``AccountOperations/token()``, requests and pipes then get a missing token by the client
  /// credentials grant, with the ``scope``, and replace an expired token in the same way, or with
  /// the refresh token if the server sent one and accepts it. If many callers need a token at the
  /// same time, the SDK sends one request. The client needs a secret, a key, a source of assertions or a
  /// certificate, but no redirect URI.
  ///
  /// - SeeAlso: RFC 6749, section 4.4
  public var usesClientCredentials: Bool {
    get { values.value.usesClientCredentials }
    set { values.value.usesClientCredentials = newValue }
  }
  /// How long before the end of a sign-in to report ``SessionEvent/endsSoon(_:)``: one day by
  /// default.
  ///
  /// The SDK never reports it before nine tenths of the sign-in's lifetime have passed. Zero turns
  /// the event off. A negative value counts as zero.
  public var endNotice: Duration {
    get { values.value.endNotice }
    set { values.value.endNotice = max(newValue, .zero) }
  }

  /// Creates a configuration from a client's parameters, after checking them; no request is sent.
  ///
  /// The SDK receives a redirect to a loopback address, and the app receives any other redirect. If
  /// the app's own web server listens on the loopback port, set `redirectReceiver` to
  /// ``RedirectReceiver/app``.
  ///
  /// A client with a `clientKey` authenticates with a token that the key signs, and a client with a
  /// `clientAssertionSource` with a token from that source, unless `clientAuthentication` says
  /// otherwise.
  ///
  /// `scope` contains the scopes, separated by spaces. To pass a list, write
  /// `scopes.joined(separator: " ")`.
  ///
  /// `provider` has no default, so that no app sends its users and its secret to a server that it
  /// did not name. The two dictionaries add parameters to the provider's parameters and override
  /// them. A parameter that the protocol itself uses is an error.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` or
  ///   ``SQOAuthError/Code/insecureEndpoint``; the message says what to change.
  public init(
    clientID: String, clientSecret: String? = nil, clientKey: ClientKey? = nil,
    clientAssertionSource: AssertionSource? = nil, redirectURI: String? = nil,
    redirectReceiver: RedirectReceiver? = nil, scope: String? = nil, provider: Provider,
    clientAuthentication: ClientAuthentication? = nil,
    authorizationParameters: [String: String] = [:], tokenParameters: [String: String] = [:]
  ) throws(SQOAuthError) {
    guard !clientID.isEmpty else {
      throw SQOAuthError(
        .invalidConfiguration,
        "the client identifier is empty; use the one that the server gave your app")
    }
    if let fault = provider.fault { throw SQOAuthError(.invalidConfiguration, fault) }
    // A caller that reads the secret from a form field passes an empty text if there is no secret.
    // If the caller also chooses Basic, the empty text is the secret.
    let keepsEmpty = clientAuthentication == .basic || clientAuthentication == .basicUnescaped
    let clientSecret = clientSecret?.isEmpty == true && !keepsEmpty ? nil : clientSecret
    let redirect: RedirectURI? =
      if let redirectURI { try RedirectURI(redirectURI, receiver: redirectReceiver) } else { nil }
    try Self.check(
      clientAuthentication, providers: provider.clientAuthentication, id: clientID,
      secret: clientSecret, hasKey: clientKey != nil || clientAssertionSource != nil)
    values = Boxed(
      Values(
        clientID: clientID, clientSecret: clientSecret, clientKey: clientKey,
        clientAssertionSource: clientAssertionSource, redirectURI: redirect,
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

  /// Checks the provider's addresses, and returns the endpoints from the app, or `nil` for an
  /// issuer.
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
  /// The client identifier and the provider's name, without the secret.
  public var description: String { "client \(clientID) of \(provider.name)" }
}
