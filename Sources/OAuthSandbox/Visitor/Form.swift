/// The form on a page of the sandbox, as ``SandboxVisitor`` parses it.
struct Form {
  /// The path that the form is sent to, or a whole address for a form that leads to the app.
  let action: String
  let hidden: [(name: String, value: String)]
  let asksForPassword: Bool
  /// Whether the form asks for a device's code.
  let asksForCode: Bool
  /// The decisions that the form's buttons offer.
  let decisions: [String]

  /// Parses the first form of a page, and fails if the page has none.
  init?(_ page: String) {
    guard let start = page.firstRange(of: "<form ") else { return nil }
    let form = page[start.lowerBound...]
    let tags = form.split(separator: "<").map { $0.prefix { $0 != ">" } }
    guard let action = tags.first.flatMap({ Self.attribute("action", of: $0) }) else { return nil }
    let inputs = tags.filter { $0.hasPrefix("input ") }
    self.action = action
    hidden = inputs.compactMap { input in
      guard Self.attribute("type", of: input) == "hidden",
        let name = Self.attribute("name", of: input)
      else { return nil }
      return (name, Self.attribute("value", of: input) ?? "")
    }
    decisions = tags.filter { $0.hasPrefix("button ") }.compactMap { button in
      Self.attribute("name", of: button) == "decision" ? Self.attribute("value", of: button) : nil
    }
    asksForCode = inputs.contains { Self.attribute("name", of: $0) == "user_code" }
    asksForPassword = inputs.contains { Self.attribute("type", of: $0) == "password" }
  }

  func hidden(_ name: String) -> String? { hidden.first { $0.name == name }?.value }

  private static func attribute(_ name: String, of tag: Substring) -> String? {
    guard let start = tag.firstRange(of: " \(name)=\"") else { return nil }
    let escaped = tag[start.upperBound...].prefix { $0 != "\"" }
    return PageText.unescaped(String(escaped))
  }
}
