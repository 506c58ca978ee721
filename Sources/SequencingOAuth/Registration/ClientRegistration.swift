public import Basics

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
  /// The redirect URIs, which are those that were asked for.
  public let redirectURIs: [String]
  /// The scopes that the client may ask for; `nil` if the server does not say.
  public let scope: String?
  /// Where the registration can be read, changed and deleted, and the token for that; `nil` if the
  /// server does not let clients manage themselves.
  let management: Management?
  /// All that the server said about the client, without the secret and the token.
  public let members: [String: JSONValue]

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
  /// client that was registered with a key needs that key here.
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

  /// Whether the client's secret is good at a time, for as long as a sign-in may take.
  func isUsable(at date: Date) -> Bool {
    clientSecretExpirationDate.map { date.addingTimeInterval(Self.reserve) < $0 } ?? true
  }

  /// How long before its secret ends a client registers anew, in seconds.
  private static let reserve = 3600.0
}

extension ClientRegistration: Redacted {
  /// The client and the server alone.
  public var description: String {
    "client \(clientID.printable), registered at \(issuer.printable)"
  }
}
