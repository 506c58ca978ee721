/// What a store keeps of one account.
public struct AccountRecord: Sendable, Hashable, Codable {
  /// The name under which the app knows the account.
  public let id: String
  /// The client that signed the user in.
  public let clientID: String
  /// The issuer, where it is known.
  public let issuer: String?
  /// The newest token, with the refresh token that is in force.
  public let token: SQToken

  /// Makes a record.
  public init(id: String, clientID: String, issuer: String? = nil, token: SQToken) {
    self.id = id
    self.clientID = clientID
    self.issuer = issuer
    self.token = token
  }

  private enum CodingKeys: String, CodingKey {
    case id
    case clientID = "client_id"
    case issuer
    case token
  }
}
