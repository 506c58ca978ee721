public import Basics

/// What a store keeps of one account.
///
/// All of it is as secret as the token is.
public struct AccountRecord: Sendable, Hashable, Codable {
  /// A grant that needs no user and no refresh token, so that it can be made again.
  public struct Grant: Sendable, Hashable, Codable {
    /// `grant_type`.
    public let grantType: String
    /// The scope that was asked for.
    public let scope: String?

    /// The client credentials grant (RFC 6749, section 4.4).
    public static func clientCredentials(scope: String?) -> Self {
      Self(grantType: "client_credentials", scope: scope)
    }

    private enum CodingKeys: String, CodingKey {
      case grantType = "grant_type"
      case scope
    }
  }

  private struct Values: Sendable, Hashable {
    let id: String
    let clientID: String
    let issuer: String?
    let tokenEndpoint: String?
    let grant: Grant?
    let session: String?
    let keepsRefreshToken: Bool
    let token: SQToken
    let attributes: [String: String]
  }

  private let values: Boxed<Values>

  /// The name under which the app knows the account.
  public var id: String { values.value.id }
  /// The client that signed the user in.
  public var clientID: String { values.value.clientID }
  /// The issuer, where it is known.
  public var issuer: String? { values.value.issuer }
  /// The token endpoint, by which a server is known that has no issuer.
  public var tokenEndpoint: String? { values.value.tokenEndpoint }
  /// How the token is had anew, where not by its refresh token.
  public var grant: Grant? { values.value.grant }
  /// Names the sign-in that the token comes from; every refresh keeps it.
  ///
  /// A record that has another one may be of another user.
  public var session: String? { values.value.session }
  /// Whether the latest refresh left the refresh token in force, so that a refresh spends nothing.
  public var keepsRefreshToken: Bool { values.value.keepsRefreshToken }
  /// The newest token, with the refresh token that is in force.
  public var token: SQToken { values.value.token }
  /// What the app keeps with the account, such as a name to show.
  public var attributes: [String: String] { values.value.attributes }

  /// Makes a record.
  public init(
    id: String, clientID: String, issuer: String? = nil, tokenEndpoint: String? = nil,
    grant: Grant? = nil, session: String? = nil, keepsRefreshToken: Bool = false, token: SQToken,
    attributes: [String: String] = [:]
  ) {
    values = Boxed(
      Values(
        id: id, clientID: clientID, issuer: issuer, tokenEndpoint: tokenEndpoint, grant: grant,
        session: session, keepsRefreshToken: keepsRefreshToken, token: token,
        attributes: attributes))
  }

  /// The account after a refresh, with what the app keeps with it by now.
  func refreshed(_ token: SQToken, attributes: [String: String]) -> AccountRecord {
    AccountRecord(
      id: id, clientID: clientID, issuer: issuer, tokenEndpoint: tokenEndpoint, grant: grant,
      session: session,
      keepsRefreshToken: token.refreshToken != nil && token.refreshToken == self.token.refreshToken,
      token: token, attributes: attributes)
  }

  private enum CodingKeys: String, CodingKey {
    case id
    case clientID = "client_id"
    case issuer
    case tokenEndpoint = "token_endpoint"
    case grant
    case session
    case keepsRefreshToken = "keeps_refresh_token"
    case token
    case attributes
  }
}

extension AccountRecord {
  /// Reads a record.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      id: try container.decode(String.self, forKey: .id),
      clientID: try container.decode(String.self, forKey: .clientID),
      issuer: try container.decodeIfPresent(String.self, forKey: .issuer),
      tokenEndpoint: try container.decodeIfPresent(String.self, forKey: .tokenEndpoint),
      grant: try container.decodeIfPresent(Grant.self, forKey: .grant),
      session: try container.decodeIfPresent(String.self, forKey: .session),
      keepsRefreshToken: try container.decodeIfPresent(Bool.self, forKey: .keepsRefreshToken)
        ?? false,
      token: try container.decode(SQToken.self, forKey: .token),
      attributes: try container.decodeIfPresent([String: String].self, forKey: .attributes) ?? [:])
  }

  /// Writes the record; what is absent is left out.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(clientID, forKey: .clientID)
    try container.encodeIfPresent(issuer, forKey: .issuer)
    try container.encodeIfPresent(tokenEndpoint, forKey: .tokenEndpoint)
    try container.encodeIfPresent(grant, forKey: .grant)
    try container.encodeIfPresent(session, forKey: .session)
    if keepsRefreshToken { try container.encode(true, forKey: .keepsRefreshToken) }
    try container.encode(token, forKey: .token)
    if !attributes.isEmpty { try container.encode(attributes, forKey: .attributes) }
  }
}

extension AccountRecord: Redacted {
  /// The account and the client, without a token.
  public var description: String {
    "account \"\(id.printable)\" of client \(clientID.printable)"
  }
}
