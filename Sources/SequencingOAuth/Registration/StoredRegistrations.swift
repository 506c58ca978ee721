import SQBasics

/// The registrations in a file, each at its server's issuer, with what a later version of the SDK
/// has added.
struct StoredRegistrations: Sendable, Hashable {
  private var values = TextDictionary<JSONValue>()

  /// The issuers of the registrations' servers, in the order of their UTF-8 bytes.
  var issuers: [String] { values.texts }

  subscript(issuer: String) -> JSONValue? {
    get { values[issuer] }
    set { values[issuer] = newValue }
  }
}

extension StoredRegistrations: Codable {
  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    for (member, registration) in try container.decode([String: JSONValue].self) {
      // Without this check, a registration under a wrong name could replace that of its own server.
      guard let issuer = registration["issuer"].string, MemberNames.is(member, of: issuer) else {
        throw DecodingError.dataCorruptedError(
          in: container, debugDescription: "a registration is stored under a different name")
      }
      values[issuer] = registration
    }
  }

  func encode(to encoder: any Encoder) throws {
    var members: [String: JSONValue] = [:]
    for (member, issuer) in MemberNames.members(of: issuers) { members[member] = values[issuer] }
    var container = encoder.singleValueContainer()
    try container.encode(members)
  }
}
