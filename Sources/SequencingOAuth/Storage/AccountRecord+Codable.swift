import SQBasics
import SQFoundation

extension AccountRecord {
  enum CodingKeys: String, CodingKey {
    case id
    case clientID = "client_id"
    case issuer
    case tokenEndpoint = "token_endpoint"
    case grant
    case session
    case generation
    case reusesRefreshToken = "reuses_refresh_token"
    case token
    /// The token of an account whose tokens are bound to a key.
    ///
    /// The name differs from `token`. So a program that does not know such keys cannot read the
    /// record, and cannot save it without its key.
    case boundToken = "bound_token"
    case proofKey = "proof_key"
    case serverNonce = "server_nonce"
    case hasVerifiedIDToken = "id_token_verified"
    case earlierSessionID = "sid"
    case unverifiedToken = "unverified_token"
    case usedAt = "used_at"
    case attributes
  }

  /// Decodes a record; it may lack fields that older versions of the SDK did not write.
  ///
  /// The token has its ``SQToken/idToken`` again if the SDK validated it before the record was
  /// written.
  ///
  /// A member that this version does not know is kept, because a later version may have added it. So
  /// a store that keeps values of its own with a record must not put them into the record's object.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let proofKey = try container.decodeIfPresent(ProofKey.self, forKey: .proofKey)
    let token = try container.decode(
      SQToken.self, forKey: proofKey == nil ? .token : .boundToken)
    let record = AccountRecord(
      Values(
        id: try container.decode(String.self, forKey: .id),
        clientID: try container.decode(String.self, forKey: .clientID),
        issuer: try container.decodeIfPresent(String.self, forKey: .issuer),
        tokenEndpoint: try container.decodeIfPresent(String.self, forKey: .tokenEndpoint),
        grant: try container.decodeIfPresent(Grant.self, forKey: .grant),
        session: try container.decodeIfPresent(String.self, forKey: .session),
        generation: Generation(count: try Self.generation(in: container)),
        reusesRefreshToken: try container.decodeIfPresent(Bool.self, forKey: .reusesRefreshToken)
          ?? false,
        token: token.bound(to: proofKey),
        hasVerifiedIDToken: try container.decodeIfPresent(Bool.self, forKey: .hasVerifiedIDToken)
          ?? false,
        earlierSessionID: try container.decodeIfPresent(String.self, forKey: .earlierSessionID),
        unverifiedToken: try container.decodeIfPresent(SQToken.self, forKey: .unverifiedToken)?
          .bound(to: proofKey),
        usedAt: try container.decodeIfPresent(Date.self, forKey: .usedAt),
        serverNonce: try container.decodeIfPresent(String.self, forKey: .serverNonce),
        attributes: try container.decodeIfPresent([String: String].self, forKey: .attributes)
          ?? [:],
        laterMembers: try Self.laterMembers(
          in: decoder, token: proofKey == nil ? .token : .boundToken)))
    self = record.withKeptIdentity()
  }

  /// Encodes the record, without the fields that are `nil`, empty or `false`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(clientID, forKey: .clientID)
    try container.encodeIfPresent(issuer, forKey: .issuer)
    try container.encodeIfPresent(tokenEndpoint, forKey: .tokenEndpoint)
    try container.encodeIfPresent(grant, forKey: .grant)
    try container.encodeIfPresent(session, forKey: .session)
    try container.encodeIfPresent(generation, forKey: .generation)
    if reusesRefreshToken { try container.encode(true, forKey: .reusesRefreshToken) }
    try container.encode(token, forKey: proofKey == nil ? .token : .boundToken)
    try container.encodeIfPresent(proofKey, forKey: .proofKey)
    try container.encodeIfPresent(serverNonce, forKey: .serverNonce)
    if hasVerifiedIDToken { try container.encode(true, forKey: .hasVerifiedIDToken) }
    try container.encodeIfPresent(earlierSessionID, forKey: .earlierSessionID)
    try container.encodeIfPresent(unverifiedToken, forKey: .unverifiedToken)
    try container.encodeIfPresent(usedAt, forKey: .usedAt)
    if !attributes.isEmpty { try container.encode(attributes, forKey: .attributes) }
    if !laterMembers.isEmpty { try encodeLaterMembers(to: encoder) }
  }
}

// Parts of a record that are decoded with a check.
extension AccountRecord {
  /// Returns the number of refreshes; throws if it is negative, or near the largest number.
  static func generation(in container: KeyedDecodingContainer<CodingKeys>) throws -> Int? {
    let count = try container.decodeIfPresent(Int.self, forKey: .generation)
    guard let count, !(0..<1 << 53).contains(count) else { return count }
    throw DecodingError.dataCorruptedError(
      forKey: .generation, in: container, debugDescription: "it is no number of refreshes")
  }
}
