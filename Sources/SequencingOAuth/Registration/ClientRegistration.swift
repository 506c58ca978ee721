public import SQBasics
public import SQFoundation

/// A registered client, with the values that its server has confirmed.
///
/// It contains secrets. Keep it in a ``RegistrationStore``, or encode it and store it with your
/// app's other secrets.
///
/// - SeeAlso: RFC 7591, section 3.2.1; RFC 7592, section 3
public struct ClientRegistration: Sendable, Hashable, Codable {
  /// The server at which the client is registered.
  public let issuer: String
  /// The client's identifier.
  public let clientID: String
  /// The client's secret; `nil` for a public client.
  public let clientSecret: String?
  /// The moment the secret expires; `nil` if it does not expire.
  public let clientSecretExpirationDate: Date?
  /// The client's authentication method, as the server has decided.
  public let clientAuthentication: ClientAuthentication
  /// The redirect URIs that the server has registered.
  ///
  /// They are in the order of the client's request, unless the server registered other URIs.
  public internal(set) var redirectURIs: [String]
  /// The scopes that the client may request; `nil` if the server does not say.
  public let scope: String?
  /// The address and the token for reading, changing and deleting the registration.
  ///
  /// It is `nil` if the server does not let clients manage themselves.
  var management: Management?
  /// Whether a response has replaced the token for managing the registration, as some servers do
  /// with each response.
  ///
  /// It is `nil` in a registration that was stored by an older version of the SDK.
  var replacesToken: Bool?
  /// All members of the server's response about the client, without the secret and the token.
  public let members: [String: JSONValue]
  /// The public halves of the keys that the client has sent.
  ///
  /// It is `nil` in a registration that was stored by an older version of the SDK.
  let sentKeys: [JSONValue]?
  /// The grants that the app has asked for; the server may have registered others.
  ///
  /// It is `nil` in a registration that was stored by an older version of the SDK.
  var askedGrants: [String]?
  /// The redirect URIs that the client asked for; the server may have registered fewer.
  var askedRedirectURIs: [String]?
  /// The scopes that the app has asked for; `nil` if the app left them to the server, or an older
  /// version of the SDK stored the registration.
  var askedScope: String?
  /// The names of the members that the client last sent with a value, or would have sent if the
  /// server listed an algorithm that the profile allows.
  ///
  /// It is `nil` in a registration that was stored by an older version of the SDK.
  var askedMembers: [String]?

  struct Management: Sendable, Hashable, Codable, Redacted {
    let uri: URL
    let accessToken: String

    var description: String { "\(uri)" }
  }

  /// Whether the client can read, change and delete its registration.
  public var isManageable: Bool { management != nil }

  /// Returns the configuration of the registered client.
  ///
  /// If the server demands pushed or signed authorization requests or bound tokens of this client,
  /// the configuration pushes or signs its authorization requests, or binds its tokens to a key.
  ///
  /// The redirect URI is the first registered one. The scope is `scope` or, by default, the
  /// registered scope. For a client that was registered with a key, pass that key as `clientKey`.
  /// The other parameters are those of the initializer of ``ClientConfiguration``. If the
  /// registration comes from ``ClientRegistrar/read(_:)`` or ``ClientRegistrar/update(_:to:)``,
  /// first call ``check(against:)``.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration``, like the initializer of
  ///   ``ClientConfiguration``.
  public func configuration(
    redirectReceiver: RedirectReceiver? = nil, scope: String? = nil, clientKey: ClientKey? = nil,
    authorizationParameters: [String: String] = [:], tokenParameters: [String: String] = [:]
  ) throws(SQOAuthError) -> ClientConfiguration {
    var configuration = try ClientConfiguration(
      clientID: clientID, clientSecret: clientSecret, clientKey: clientKey,
      redirectURI: redirectURIs.first, redirectReceiver: redirectReceiver,
      scope: scope ?? self.scope, provider: .issuer(issuer),
      clientAuthentication: clientAuthentication,
      authorizationParameters: authorizationParameters, tokenParameters: tokenParameters)
    configuration.pushesAuthorizationRequests = requiresPushedRequests
    // RFC 9101, section 10.5: the server accepts no unsigned authorization request of this client.
    configuration.signsAuthorizationRequests =
      members["require_signed_request_object"]?.bool == true
    // RFC 9449, section 5.2: the server accepts no token request of this client without a proof.
    if members["dpop_bound_access_tokens"]?.bool == true { configuration.tokenBinding = .dpop() }
    return configuration
  }

  /// Whether the server accepts only pushed authorization requests of this client.
  ///
  /// - SeeAlso: RFC 9126, section 6
  package var requiresPushedRequests: Bool {
    members["require_pushed_authorization_requests"]?.bool == true
  }

  /// Returns whether the client's secret remains valid for `reserve` seconds after a date.
  func isUsable(at date: Date, reserve: Double = ClientRegistration.reserve) -> Bool {
    clientSecretExpirationDate.map { date.addingTimeInterval(reserve) < $0 } ?? true
  }

  /// The remaining lifetime of a secret, in seconds, at which the client renews its registration.
  ///
  /// It is enough time for a sign-in that has already begun.
  static let reserve = 3600.0
}

extension ClientRegistration: Redacted {
  /// The client's identifier and the server's issuer.
  public var description: String {
    "client \(clientID.printable), registered at \(issuer.printable)"
  }
}
