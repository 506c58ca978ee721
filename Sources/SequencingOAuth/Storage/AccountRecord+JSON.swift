import SQBasics
package import SQFoundation

extension AccountRecord {
  /// Returns the name of an account's record for an error message.
  package static func name(of id: String) -> String {
    "the record of the account \"\(id.printable)\""
  }
}

// The JSON text of a record in a store: the text that `JSONEncoder` would write with sorted names,
// but written much faster. Members of later versions are at the end of the record or of their part.
extension AccountRecord {
  /// Encodes the record as JSON for a store; equal fields result in equal bytes.
  package func json() throws(SQOAuthError) -> Data {
    do {
      let grant = try grant.map { try Self.json(of: $0, adding: laterMembers(of: .grant)) }
      let key = try proofKey?.storedKey
      return try JSONWriter.object { writer throws(JSONWriter.NoNumber) in
        try write(to: &writer, grant, key)
      }
    } catch let error as SQOAuthError {
      throw error
    } catch {
      throw SQOAuthError(
        .storeFailed,
        "the record of the account \"\(id.printable)\" cannot be written as JSON", cause: error)
    }
  }

  /// Returns a grant as JSON, with the members that a later version of the SDK has added.
  private static func json(
    of grant: Grant, adding later: [String: JSONValue]
  ) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let json = try encoder.encode(grant)
    guard !later.isEmpty, let known = try JSONReader.value(of: json, .stored).object else {
      return json
    }
    return try encoder.encode(known.merging(later) { known, _ in known })
  }

  private func write(
    to writer: inout JSONWriter, _ grant: Data?, _ key: String?
  ) throws(JSONWriter.NoNumber) {
    try writer.member(CodingKeys.attributes, attributes)
    if proofKey != nil { try write(token, as: .boundToken, to: &writer) }
    writer.member(CodingKeys.clientID, clientID)
    writer.member(CodingKeys.generation, generation)
    if let grant { writer.member(CodingKeys.grant, json: grant) }
    writer.member(CodingKeys.id, id)
    writer.member(CodingKeys.hasVerifiedIDToken, ifTrue: hasVerifiedIDToken)
    writer.member(CodingKeys.issuer, issuer)
    if let proofKey {
      try writer.member(CodingKeys.proofKey) { writer throws(JSONWriter.NoNumber) in
        proofKey.write(to: &writer, key)
        try writer.members(laterMembers(of: .proofKey))
      }
    }
    writer.member(CodingKeys.reusesRefreshToken, ifTrue: reusesRefreshToken)
    writer.member(CodingKeys.serverNonce, serverNonce)
    writer.member(CodingKeys.session, session)
    writer.member(CodingKeys.earlierSessionID, earlierSessionID)
    if proofKey == nil { try write(token, as: .token, to: &writer) }
    writer.member(CodingKeys.tokenEndpoint, tokenEndpoint)
    if let unverifiedToken { try write(unverifiedToken, as: .unverifiedToken, to: &writer) }
    try writer.member(CodingKeys.usedAt, usedAt)
    try writer.members(ownLaterMembers)
  }

  private func write(
    _ token: SQToken, as name: CodingKeys, to writer: inout JSONWriter
  ) throws(JSONWriter.NoNumber) {
    try writer.member(name) { writer throws(JSONWriter.NoNumber) in
      try token.write(to: &writer)
      try writer.members(laterMembers(of: name))
    }
  }
}

extension JSONWriter {
  /// Writes members that a later version of the SDK has added, sorted by name.
  fileprivate mutating func members(_ later: [String: JSONValue]) throws(NoNumber) {
    for (name, value) in Self.sorted(later) { try member(LaterMember(name), value) }
  }
}

extension ProofKey {
  fileprivate func write(to writer: inout JSONWriter, _ text: String?) {
    writer.member(CodingKeys.algorithm, algorithm)
    writer.member(CodingKeys.thumbprint, text == nil ? thumbprint : nil)
    writer.member(CodingKeys.key, text)
  }
}

extension SQToken {
  fileprivate func write(to writer: inout JSONWriter) throws(JSONWriter.NoNumber) {
    writer.member(CodingKeys.accessToken, accessToken)
    try writer.member(CodingKeys.additionalFields, additionalFields)
    try writer.member(CodingKeys.authorizationExpirationDate, authorizationExpirationDate)
    try writer.member(CodingKeys.authorizationLifetime, ends.authorization?.lifetime)
    try writer.member(CodingKeys.expirationDate, expirationDate)
    try writer.member(CodingKeys.issueDate, issueDate)
    writer.member(CodingKeys.nonce, nonce)
    try writer.member(CodingKeys.redirectParameters, redirectParameters)
    writer.member(CodingKeys.refreshToken, refreshToken)
    try writer.member(CodingKeys.refreshTokenExpirationDate, refreshTokenExpirationDate)
    try writer.member(CodingKeys.refreshTokenLifetime, ends.refreshToken?.lifetime)
    writer.member(CodingKeys.scope, scope)
    writer.member(CodingKeys.tokenType, tokenType)
  }
}
