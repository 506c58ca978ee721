public import SQBasics

/// An authorization server: its endpoints, and how its requests and responses differ from the
/// standard.
///
/// Use a preset, ``issuer(_:)`` for a server that publishes its metadata, or
/// ``endpoints(authorization:token:refresh:revocation:deviceAuthorization:pushedAuthorization:introspection:jwks:userInfo:endSession:issuer:)``.
public struct Provider: Sendable, Hashable {
  /// The source of the endpoints.
  enum Source: Sendable, Hashable {
    case issuer(String)
    case endpoints(Endpoints)
  }

  /// The endpoints as the app wrote them, each an absolute URL.
  struct Endpoints: Sendable, Hashable {
    var authorization: String?
    var token: String
    var refresh: String?
    var revocation: String?
    var deviceAuthorization: String?
    var pushedAuthorization: String?
    var introspection: String?
    var jwks: String?
    var userInfo: String?
    var endSession: String?
    var issuer: String?
  }

  /// The provider's name in messages and lists.
  public var name: String
  let source: Source
  /// The parameters that every authorization request to this provider carries.
  public var authorizationParameters: [String: String] = [:]
  /// The parameters that every token request to this provider carries.
  public var tokenParameters: [String: String] = [:]
  /// How clients authenticate at this provider; `nil` lets the server's metadata decide.
  public var clientAuthentication: ClientAuthentication?
  /// The deviations from RFC 6749 that the SDK accepts in this provider's token responses.
  public var tokenResponseQuirks: TokenResponseQuirks = []
  /// The kind of request that the provider's revocation endpoint accepts.
  public var revocationStyle: RevocationStyle = .rfc7009
  /// Whether this provider, when it revokes one token, ends the user's whole grant to the app.
  ///
  /// Then the user's other tokens of the app end too, also those of other accounts and devices. If
  /// `true`, the SDK revokes tokens only when the app asks it to, for example with
  /// ``AccountOperations/revoke()``. Otherwise it also revokes tokens that nobody will use, such as
  /// those that arrive after a cancelled sign-in; with this property they stay valid until they
  /// expire. It is `true` in the presets of Apple, Google and Keycloak. Set it for a tenant of
  /// Auth0 with the setting "Refresh Token Revocation Deletes Grant". It has no effect with
  /// ``RevocationStyle/facebookPermissions``, ``RevocationStyle/keycloakLogout`` and
  /// ``RevocationStyle/slackToken``, which always may end other tokens.
  ///
  /// - SeeAlso: RFC 7009, section 2.1
  public var revocationEndsGrant = false
  /// Whether this provider accepts a refresh token again after a refresh.
  ///
  /// If `true`, the SDK refreshes even if it cannot write to the token store, because the old
  /// refresh token stays valid. If `false`, the SDK learns from each account's latest refresh
  /// whether its server does so; see ``AccountRecord/reusesRefreshToken``.
  public var reusesRefreshTokens = false
  /// Whether a sign-in with the scopes `openid` and `offline_access` asks the user for consent.
  ///
  /// If `true`, the request has `prompt=consent`, unless the app sets another `prompt`. OpenID
  /// Connect requires it before a provider issues a refresh token for `offline_access`. The value
  /// is `false` for the issuers of Microsoft Entra: they issue a refresh token without this prompt,
  /// and an administrator often consents for users who are not allowed to consent themselves.
  ///
  /// - SeeAlso: OpenID Connect Core 1.0, section 11
  public var asksConsentForOfflineAccess = true
  /// The audience (`aud`) of the assertions that clients sign; the provider's issuer by default.
  public var assertionAudience = AssertionAudience.issuer
  /// The issuer (`iss`) of the assertions with which clients authenticate; `nil` for the client's
  /// identifier.
  ///
  /// At Apple it is the identifier of the developer's team.
  ///
  /// - SeeAlso: RFC 7523, section 3
  public var assertionIssuer: String?
  /// Whether an authorization request has commas between the scopes; `false` by default.
  ///
  /// The app separates scopes by spaces in either case.
  ///
  /// - SeeAlso: RFC 6749, section 3.3 (spaces)
  public var separatesScopesByCommas = false
  /// The error codes, besides `invalid_grant`, for a refresh token that is no longer valid.
  ///
  /// If this provider refuses a refresh with one of these codes, the session ends with
  /// ``SQOAuthError/Code/invalidGrant``. The error's ``SQOAuthError/response`` has the provider's
  /// code.
  ///
  /// - SeeAlso: RFC 6749, section 5.2
  public var endedSessionCodes: Set<SQOAuthError.Code> = []
  /// The issuers of ID tokens at a provider with tenants; `nil` if the provider's own issuer is the
  /// only one.
  var idTokenIssuer: IssuerTemplate?
  /// The reason why no client can use this provider, such as an invalid host; `nil` if there is
  /// none.
  var fault: String?
  /// The hosts of the provider's APIs; they may get its tokens.
  ///
  /// A name that begins with a dot stands for all its subdomains.
  var apiHosts: Set<String> = []

  /// Creates the provider for a server that publishes its metadata under its issuer identifier.
  ///
  /// The SDK fetches the metadata document for each sign-in, and uses it for the requests that
  /// follow, such as refreshes. The sign-ins of a web application use the document in memory while
  /// it is fresh. The SDK accepts the document only if its `issuer` equals this text byte for byte.
  /// With Google's issuer, Google's APIs may get the tokens, as with ``google``.
  ///
  /// - SeeAlso: RFC 8414; OpenID Connect Discovery 1.0
  public static func issuer(_ issuer: String) -> Provider {
    var provider = Provider(name: issuer, source: .issuer(issuer))
    if issuer == googleIssuer {
      provider.apiHosts = googleAPIHosts
      provider.assertionAudience = .tokenEndpoint
      provider.revocationEndsGrant = true
    }
    return provider
  }

  /// Creates the provider for a server whose endpoints the app knows.
  ///
  /// Only a sign-in in the browser needs the `authorization` endpoint. With an `issuer`, an `iss`
  /// in the redirect must equal it (RFC 9207). Set `refresh` if the server refreshes at an address
  /// other than the token endpoint. Set `deviceAuthorization` if users may sign in on another
  /// device, and `pushedAuthorization` if clients push their requests (RFC 9126). A resource server
  /// may need `introspection`. To know who the user is, the SDK needs `issuer` and `jwks`, the
  /// address of the issuer's keys (`jwks_uri`). Without them, a sign-in with the scope `openid`
  /// brings no identity. Only a symmetric ``ClientConfiguration/idTokenAlgorithm`` needs no `jwks`.
  /// `userInfo` and `endSession` are the endpoints of OpenID Connect for
  /// ``AccountOperations/userInfo()`` and
  /// ``AccountOperations/endSession(revokesTokens:logoutHint:uiLocales:)``.
  public static func endpoints(
    authorization: String? = nil, token: String, refresh: String? = nil, revocation: String? = nil,
    deviceAuthorization: String? = nil, pushedAuthorization: String? = nil,
    introspection: String? = nil, jwks: String? = nil, userInfo: String? = nil,
    endSession: String? = nil, issuer: String? = nil
  ) -> Provider {
    Provider(
      // A query may be a secret key.
      name: issuer ?? token.withoutQuery,
      source: .endpoints(
        Endpoints(
          authorization: authorization, token: token, refresh: refresh, revocation: revocation,
          deviceAuthorization: deviceAuthorization, pushedAuthorization: pushedAuthorization,
          introspection: introspection, jwks: jwks, userInfo: userInfo, endSession: endSession,
          issuer: issuer)))
  }

  /// Creates the provider for a server whose endpoints are paths below one base address.
  ///
  /// The SDK puts one slash between the base and each path. Any path may instead be an absolute
  /// URL, which is used as it is; if the base is empty, every endpoint must be an absolute URL.
  public init(
    name: String, baseURL: String, authorizationEndpoint: String, tokenEndpoint: String,
    refreshEndpoint: String? = nil, revocationEndpoint: String? = nil,
    deviceAuthorizationEndpoint: String? = nil, jwksURI: String? = nil,
    userInfoEndpoint: String? = nil, endSessionEndpoint: String? = nil, issuer: String? = nil
  ) {
    self.init(
      name: name,
      source: .endpoints(
        Endpoints(
          authorization: Self.join(baseURL, authorizationEndpoint),
          token: Self.join(baseURL, tokenEndpoint),
          refresh: refreshEndpoint.map { Self.join(baseURL, $0) },
          revocation: revocationEndpoint.map { Self.join(baseURL, $0) },
          deviceAuthorization: deviceAuthorizationEndpoint.map { Self.join(baseURL, $0) },
          jwks: jwksURI.map { Self.join(baseURL, $0) },
          userInfo: userInfoEndpoint.map { Self.join(baseURL, $0) },
          endSession: endSessionEndpoint.map { Self.join(baseURL, $0) },
          issuer: issuer)))
  }

  init(name: String, source: Source) {
    self.name = name
    self.source = source
    asksConsentForOfflineAccess = !origins.contains { origin in
      Self.microsoftHosts.contains { origin.isOnHost($0) }
    }
  }

  /// The hosts of Microsoft Entra's issuers in its clouds.
  private static let microsoftHosts = [
    "login.microsoftonline.com", "login.microsoftonline.us", "login.partner.microsoftonline.cn",
  ]

  private static func join(_ base: String, _ path: String) -> String {
    if path.contains("://") || base.isEmpty { return path }
    let base = base.reversed().drop { $0 == "/" }.reversed()
    return String(base) + "/" + path.drop { $0 == "/" }
  }
}

extension Provider {
  /// The issuer, if it is known without a request.
  package var issuer: String? {
    switch source {
    case .issuer(let issuer): issuer
    case .endpoints(let endpoints): endpoints.issuer
    }
  }

  /// The text that identifies the server: its issuer, or its token endpoint if it has no issuer.
  package var identifier: String {
    switch source {
    case .issuer(let issuer): issuer
    case .endpoints(let endpoints): endpoints.issuer ?? endpoints.token
    }
  }

  /// Whether a revocation ends no other token than the given one and those issued with it.
  var revokesSingleTokens: Bool { !revocationEndsGrant && revocationStyle.endsSingleTokens }

  /// Whether the hosts of this provider's APIs are known.
  var namesAPIs: Bool { !apiHosts.isEmpty }

  /// Returns the scopes with the separator that the provider expects in an authorization request.
  func scopesForRequest(_ scope: String?) -> String? {
    guard separatesScopesByCommas else { return scope }
    return scope?.split(separator: " ").joined(separator: ",")
  }

  /// Returns whether an origin is one of this provider's APIs.
  func hasAPI(at origin: ResourceOrigin) -> Bool {
    apiHosts.contains { origin.isOnHost($0) }
  }

  /// The servers that the app named: the issuer, or the endpoints.
  var origins: Set<ResourceOrigin> {
    let addresses: [String?] =
      switch source {
      case .issuer(let issuer): [issuer]
      case .endpoints(let endpoints):
        [
          endpoints.issuer, endpoints.authorization, endpoints.token, endpoints.refresh,
          endpoints.revocation, endpoints.deviceAuthorization, endpoints.pushedAuthorization,
          endpoints.introspection, endpoints.jwks, endpoints.userInfo, endpoints.endSession,
        ]
      }
    return Set(addresses.compactMap { $0.flatMap { try? ResourceOrigin($0) } })
  }
}

extension Provider: Redacted {
  /// The provider's name only, because an added parameter may be a secret key.
  public var description: String { name }
}
