public import SQBasics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A client as its server has registered it.
///
/// It contains secrets. Keep it in a ``RegistrationStore``, or as `Codable` where your app keeps
/// secrets.
///
/// - SeeAlso: RFC 7591, section 3.2.1; RFC 7592, section 3
public struct ClientRegistration: Sendable, Hashable, Codable {
  /// The server at which the client is registered.
  public let issuer: String
  /// The client's identifier.
  public let clientID: String
  /// The client's secret; `nil` for a public client.
  public let clientSecret: String?
  /// When the secret ends; `nil` if it does not.
  public let clientSecretExpirationDate: Date?
  /// How the client authenticates, as the server has decided.
  public let clientAuthentication: ClientAuthentication
  /// The redirect URIs as the server has them.
  ///
  /// They are in the order in which the client asked for them, unless the server has others.
  public internal(set) var redirectURIs: [String]
  /// The scopes that the client may ask for; `nil` if the server does not say.
  public let scope: String?
  /// Where the registration can be read, changed and deleted, and the token for that; `nil` if the
  /// server does not let clients manage themselves.
  let management: Management?
  /// All that the server said about the client, without the secret and the token.
  public let members: [String: JSONValue]
  /// The public halves of the keys that the client has sent.
  ///
  /// It is `nil` in a registration that an older version of the SDK has kept.
  let sentKeys: [JSONValue]?

  struct Management: Sendable, Hashable, Codable, Redacted {
    let uri: URL
    let accessToken: String

    var description: String { "\(uri)" }
  }

  /// Whether the client can read, change and delete its registration.
  public var isManageable: Bool { management != nil }

  /// The configuration of the registered client.
  ///
  /// The redirect URI is the first one, and the scope is yours, or what the server registered. A
  /// client that was registered with a key needs that key here. Use ``check(against:)`` first if
  /// the registration comes from ``ClientRegistrar/read(_:)`` or ``ClientRegistrar/update(_:to:)``.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration``, as the initializer of
  ///   ``ClientConfiguration``.
  public func configuration(
    scope: String? = nil, clientKey: ClientKey? = nil
  ) throws(SQOAuthError) -> ClientConfiguration {
    try ClientConfiguration(
      clientID: clientID, clientSecret: clientSecret, clientKey: clientKey,
      redirectURI: redirectURIs.first, scope: scope ?? self.scope, provider: .issuer(issuer),
      clientAuthentication: clientAuthentication)
  }

  /// Whether the client's secret is good at a time, and for `reserve` seconds more.
  func isUsable(at date: Date, reserve: Double = ClientRegistration.reserve) -> Bool {
    clientSecretExpirationDate.map { date.addingTimeInterval(reserve) < $0 } ?? true
  }

  /// How long before its secret ends a client renews its registration, in seconds.
  ///
  /// A sign-in that begins before then has the time to end.
  static let reserve = 3600.0
}

extension ClientRegistration: Redacted {
  /// The client and the server alone.
  public var description: String {
    "client \(clientID.printable), registered at \(issuer.printable)"
  }
}
