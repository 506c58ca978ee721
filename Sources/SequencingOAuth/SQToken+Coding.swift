import SQFoundation

// The format of a token that an app encodes. A record in a store has the same members.
extension SQToken: Codable {
  /// Decodes a token; only `access_token` and `token_type` are required.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      accessToken: try container.decode(String.self, forKey: .accessToken),
      expirationDate: try container.decodeIfPresent(Date.self, forKey: .expirationDate),
      tokenType: try container.decode(String.self, forKey: .tokenType),
      scope: try container.decodeIfPresent(String.self, forKey: .scope),
      refreshToken: try container.decodeIfPresent(String.self, forKey: .refreshToken),
      issueDate: try container.decodeIfPresent(Date.self, forKey: .issueDate),
      additionalFields: try container.decodeIfPresent(
        [String: JSONValue].self, forKey: .additionalFields) ?? [:],
      nonce: try container.decodeIfPresent(String.self, forKey: .nonce),
      redirectParameters: try container.decodeIfPresent(
        [String: String].self, forKey: .redirectParameters) ?? [:],
      refreshTokenExpirationDate: try container.decodeIfPresent(
        Date.self, forKey: .refreshTokenExpirationDate),
      authorizationExpirationDate: try container.decodeIfPresent(
        Date.self, forKey: .authorizationExpirationDate))
    var ends = self.ends
    try Self.read(.refreshTokenLifetime, from: container, into: &ends.refreshToken)
    try Self.read(.authorizationLifetime, from: container, into: &ends.authorization)
    self = ending(ends)
  }

  private static func read(
    _ key: CodingKeys, from container: KeyedDecodingContainer<CodingKeys>, into end: inout GrantEnd?
  ) throws {
    guard let date = end?.date,
      let lifetime = try container.decodeIfPresent(Double.self, forKey: key)
    else { return }
    end = GrantEnd(date: date, lifetime: lifetime)
  }

  /// Encodes every field that has a value, including the secrets.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(accessToken, forKey: .accessToken)
    try container.encodeIfPresent(expirationDate, forKey: .expirationDate)
    try container.encode(tokenType, forKey: .tokenType)
    try container.encodeIfPresent(scope, forKey: .scope)
    try container.encodeIfPresent(refreshToken, forKey: .refreshToken)
    try container.encodeIfPresent(issueDate, forKey: .issueDate)
    try container.encode(additionalFields, forKey: .additionalFields)
    try container.encodeIfPresent(nonce, forKey: .nonce)
    if !redirectParameters.isEmpty {
      try container.encode(redirectParameters, forKey: .redirectParameters)
    }
    try container.encodeIfPresent(
      refreshTokenExpirationDate, forKey: .refreshTokenExpirationDate)
    try container.encodeIfPresent(ends.refreshToken?.lifetime, forKey: .refreshTokenLifetime)
    try container.encodeIfPresent(
      authorizationExpirationDate, forKey: .authorizationExpirationDate)
    try container.encodeIfPresent(ends.authorization?.lifetime, forKey: .authorizationLifetime)
  }

  enum CodingKeys: String, CodingKey {
    case accessToken = "access_token"
    case expirationDate = "expiration_date"
    case tokenType = "token_type"
    case scope
    case refreshToken = "refresh_token"
    case issueDate = "issue_date"
    case additionalFields = "additional_fields"
    case nonce
    case redirectParameters = "redirect_parameters"
    case refreshTokenExpirationDate = "refresh_token_expiration_date"
    case refreshTokenLifetime = "refresh_token_lifetime"
    case authorizationExpirationDate = "authorization_expiration_date"
    case authorizationLifetime = "authorization_lifetime"
  }
}

// The equality of tokens.
extension SQToken {
  /// Returns whether two tokens are equal in every field that encoding writes.
  public static func == (first: SQToken, second: SQToken) -> Bool {
    if first.storage === second.storage { return true }
    return first.accessToken == second.accessToken
      && first.expirationDate == second.expirationDate && first.tokenType == second.tokenType
      && first.scope == second.scope && first.refreshToken == second.refreshToken
      && first.issueDate == second.issueDate && first.additionalFields == second.additionalFields
      && first.nonce == second.nonce && first.redirectParameters == second.redirectParameters
      && first.ends == second.ends
  }

  /// Hashes the fields that distinguish tokens.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(accessToken)
    hasher.combine(refreshToken)
  }
}
