import SQBasics

/// The individual claims that an app requests with the parameter `claims`.
///
/// - SeeAlso: OpenID Connect Core 1.0, section 5.5
struct ClaimsRequest: Sendable, Redacted {
  /// The app's conditions for one claim.
  struct Request: Sendable {
    var isEssential = false
    /// The values that the app accepts; `nil` for all.
    var values: [SandboxJSON]?

    init(_ json: SandboxJSON) {
      isEssential = json["essential"] == true
      if case .array(let values)? = json["values"] {
        self.values = values
      } else {
        values = json["value"].map { [$0] }
      }
    }

    func allows(_ value: SandboxJSON) -> Bool { values?.contains(value) ?? true }

    /// The accepted values that are strings.
    var texts: [String] {
      (values ?? []).compactMap { if case .string(let text) = $0 { text } else { nil } }
    }
  }

  /// The claims requested in the ID token, by name.
  private(set) var idToken: [String: Request] = [:]
  /// The claims requested in the UserInfo response, by name.
  private(set) var userInfo: [String: Request] = [:]

  init() {}

  /// Reads the value of `claims`, and returns `nil` if it is not a JSON object of objects.
  init?(_ text: String) {
    guard case .object(let members)? = SandboxJSON(parsing: text) else { return nil }
    for member in members {
      guard case .object(let requests) = member.value else { return nil }
      let read = requests.map { ($0.name, Request($0.value)) }
      switch member.name {
      case "id_token": idToken = Dictionary(read) { $1 }
      case "userinfo": userInfo = Dictionary(read) { $1 }
      default: break
      }
    }
  }
}
