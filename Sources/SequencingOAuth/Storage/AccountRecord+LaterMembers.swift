/// The name of a member that a later version of the SDK has added to a stored record.
struct LaterMember: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ name: String) { stringValue = name }
  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

// The members that a later version of the SDK has added, which every change of the record keeps.
//
// Those of the record itself are in `laterMembers` under their own names. Those of the record's
// token, grant or key are there as one object under the name of that part, until the part changes.
extension AccountRecord {
  /// Returns the members that this version does not know, except for a database's digest.
  ///
  /// `token` is the part that contains the record's token.
  static func laterMembers(
    in decoder: any Decoder, token: CodingKeys
  ) throws -> [String: JSONValue] {
    var later = try unknown(in: try decoder.container(keyedBy: LaterMember.self)) {
      CodingKeys(stringValue: $0) != nil || $0 == EmbeddedDigest.memberName
    }
    let container = try decoder.container(keyedBy: CodingKeys.self)
    for part in [token, .unverifiedToken, .grant, .proofKey] where container.contains(part) {
      // The part may be `null`.
      guard let members = try? container.nestedContainer(keyedBy: LaterMember.self, forKey: part)
      else { continue }
      let added = try unknown(in: members) { isKnown($0, in: part) }
      if !added.isEmpty { later[part.rawValue] = .object(added) }
    }
    return later
  }

  private static func unknown(
    in container: KeyedDecodingContainer<LaterMember>, isKnown: (String) -> Bool
  ) throws -> [String: JSONValue] {
    var members: [String: JSONValue] = [:]
    for name in container.allKeys where !isKnown(name.stringValue) {
      members[name.stringValue] = try container.decode(JSONValue.self, forKey: name)
    }
    return members
  }

  private static func isKnown(_ name: String, in part: CodingKeys) -> Bool {
    switch part {
    case .grant: Grant.CodingKeys(stringValue: name) != nil
    case .proofKey: ProofKey.CodingKeys(stringValue: name) != nil
    default: SQToken.CodingKeys(stringValue: name) != nil
    }
  }

  /// Returns the members that a later version has added to a part of the record.
  func laterMembers(of part: CodingKeys) -> [String: JSONValue] {
    laterMembers[part.rawValue]?.object ?? [:]
  }

  /// The members that a later version has added to the record itself.
  var ownLaterMembers: [String: JSONValue] {
    laterMembers.filter { CodingKeys(stringValue: $0.key) == nil }
  }

  /// Encodes the members into a record that has been encoded.
  func encodeLaterMembers(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: LaterMember.self)
    for (name, value) in laterMembers {
      guard CodingKeys(stringValue: name) != nil, let members = value.object else {
        try container.encode(value, forKey: LaterMember(name))
        continue
      }
      var part = container.nestedContainer(keyedBy: LaterMember.self, forKey: LaterMember(name))
      for (name, value) in members { try part.encode(value, forKey: LaterMember(name)) }
    }
  }

  /// Returns the members that are still right after a change: those of a changed part are not.
  static func laterMembers(from old: Values, to new: Values) -> [String: JSONValue] {
    var later = new.laterMembers
    if later.isEmpty { return later }
    var changed: [CodingKeys] = []
    if new.token != old.token { changed += [.token, .boundToken] }
    if new.unverifiedToken != old.unverifiedToken { changed.append(.unverifiedToken) }
    if new.grant != old.grant { changed.append(.grant) }
    if new.token.proofKey != old.token.proofKey { changed.append(.proofKey) }
    for part in changed { later[part.rawValue] = nil }
    return later
  }
}
