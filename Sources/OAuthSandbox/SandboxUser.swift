public import Basics

/// Somebody who can sign in at the sandbox.
public struct SandboxUser: Sendable, Hashable {
  /// What is typed into the form and stands in tokens.
  public var name: String
  /// Never shown, and left out of every description.
  public var password: String
  /// What the pages call the user.
  public var displayName: String

  /// Makes a user; without a display name the name is shown.
  public init(name: String, password: String, displayName: String? = nil) {
    self.name = name
    self.password = password
    self.displayName = displayName ?? name
  }

  /// The user `alice`, whose password is `alice-password`.
  public static let alice = SandboxUser(
    name: "alice", password: "alice-password", displayName: "Alice Liddell")
  /// The user `bob`, whose password is `bob-password`.
  public static let bob = SandboxUser(
    name: "bob", password: "bob-password", displayName: "Bob Cratchit")
}

extension SandboxUser: Redacted {
  /// The name alone.
  public var description: String { name }
  package var shownParts: KeyValuePairs<String, Any> {
    ["name": name, "displayName": displayName]
  }
}
