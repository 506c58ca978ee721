/// The text on the consent page that describes one object of `authorization_details`.
struct DetailsText {
  /// A phrase such as `Use one genome file (actions: read, delete; identifier: 7)`.
  let text: String

  init(_ object: SandboxJSON, _ types: [SandboxAuthorizationDetailsType]) {
    let type = types.first { object["type"] == .string($0.name) }
    let members = Self.words(object.setting("type", to: nil))
    text = (type?.summary ?? "Use an unknown right") + (members.isEmpty ? "" : " (\(members))")
  }

  /// Returns a value in words: members as `name: value`, elements with commas between them.
  private static func words(_ json: SandboxJSON) -> String {
    switch json {
    case .string(let text): text
    case .bool(let value): value ? "yes" : "no"
    case .null: "none"
    case .integer, .literal: json.text
    case .array(let values): values.map(words).joined(separator: ", ")
    case .object(let members):
      members.map { "\($0.name): \(words($0.value))" }.joined(separator: "; ")
    }
  }
}
