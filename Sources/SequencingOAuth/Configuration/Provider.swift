public import Basics

/// Which authorization server to use, and its manners.
///
/// A description only; ``ClientConfiguration`` checks it. Use a preset, ``issuer(_:)`` for a server
/// that publishes its metadata, or ``endpoints(authorization:token:refresh:revocation:issuer:)``.
public struct Provider: Sendable, Hashable {
  /// How the endpoints are known.
  enum Source: Sendable, Hashable {
    case issuer(String)
    case endpoints(Endpoints)
  }

  /// Endpoints as they were written, each absolute.
  struct Endpoints: Sendable, Hashable {
    var authorization: String?
    var token: String
    var refresh: String?
    var revocation: String?
    var issuer: String?
  }

  /// A name for messages and lists.
  public var name: String
  let source: Source
  /// Parameters that every authorization request to this provider carries.
  public var authorizationParameters: [String: String] = [:]
  /// Parameters that every token request to this provider carries.
  public var tokenParameters: [String: String] = [:]
  /// How clients authenticate here; `nil` to choose by the server's metadata.
  public var clientAuthentication: ClientAuthentication?
  /// The departures from RFC 6749 that this provider's token responses are forgiven.
  public var tokenResponseQuirks: TokenResponseQuirks = []
  /// What the revocation endpoint understands.
  public var revocationStyle: RevocationStyle = .rfc7009
  /// Whether this provider accepts a refresh token again after a refresh.
  ///
  /// A refresh then spends nothing, and is made although the token store cannot be written. Where
  /// it is `false`, each account learns by its latest refresh whether its server does so; see
  /// ``AccountRecord/keepsRefreshToken``.
  public var keepsRefreshTokens = false
  /// The hosts of its APIs, which may see its tokens; one that begins with a dot stands for every
  /// host below it.
  var apiHosts: Set<String> = []

  /// A server that publishes its metadata under its issuer identifier.
  ///
  /// The document is fetched for each sign-in, and believed only if its `issuer` is this string,
  /// byte for byte. Where the APIs of Google's issuer are is known, as it is for ``google``.
  ///
  /// - SeeAlso: RFC 8414; OpenID Connect Discovery 1.0
  public static func issuer(_ issuer: String) -> Provider {
    var provider = Provider(name: issuer, source: .issuer(issuer))
    if issuer == googleIssuer { provider.apiHosts = googleAPIHosts }
    return provider
  }

  /// A server whose endpoints are given by hand.
  ///
  /// Only a sign-in in the browser needs the `authorization` endpoint. With an `issuer`, an `iss` in
  /// the redirect must equal it (RFC 9207). `refresh` is for servers that refresh at another address
  /// than the token endpoint.
  public static func endpoints(
    authorization: String? = nil, token: String, refresh: String? = nil, revocation: String? = nil,
    issuer: String? = nil
  ) -> Provider {
    Provider(
      name: issuer ?? token,
      source: .endpoints(
        Endpoints(
          authorization: authorization, token: token, refresh: refresh, revocation: revocation,
          issuer: issuer)))
  }

  /// A server whose endpoints are paths below one base address.
  ///
  /// One slash stands between base and path, however many were written. A path that is an absolute
  /// URL is used as it is, and an empty base requires that of all.
  public init(
    name: String, baseURL: String, authorizationEndpoint: String, tokenEndpoint: String,
    refreshEndpoint: String? = nil, revocationEndpoint: String? = nil, issuer: String? = nil
  ) {
    self.init(
      name: name,
      source: .endpoints(
        Endpoints(
          authorization: Self.join(baseURL, authorizationEndpoint),
          token: Self.join(baseURL, tokenEndpoint),
          refresh: refreshEndpoint.map { Self.join(baseURL, $0) },
          revocation: revocationEndpoint.map { Self.join(baseURL, $0) },
          issuer: issuer)))
  }

  init(name: String, source: Source) {
    self.name = name
    self.source = source
  }

  private static func join(_ base: String, _ path: String) -> String {
    if path.contains("://") || base.isEmpty { return path }
    let base = base.reversed().drop { $0 == "/" }.reversed()
    return String(base) + "/" + path.drop { $0 == "/" }
  }
}

extension Provider {
  /// Whether it is known where the APIs of this provider are.
  var namesAPIs: Bool { !apiHosts.isEmpty }

  /// Whether one of its APIs is there.
  func hasAPI(at origin: ResourceOrigin) -> Bool {
    apiHosts.contains { origin.isOnHost($0) }
  }

  /// The servers of its issuer and its endpoints, as far as they are known without a request.
  var origins: Set<ResourceOrigin> {
    let addresses: [String?] =
      switch source {
      case .issuer(let issuer): [issuer]
      case .endpoints(let endpoints):
        [
          endpoints.issuer, endpoints.authorization, endpoints.token, endpoints.refresh,
          endpoints.revocation,
        ]
      }
    return Set(addresses.compactMap { $0.flatMap { try? ResourceOrigin($0) } })
  }
}

extension Provider: Redacted {
  /// The provider's name; an added parameter may be a key.
  public var description: String { name }
}
