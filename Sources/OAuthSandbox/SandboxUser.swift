public import SQBasics

/// A user who can sign in at the sandbox.
public struct SandboxUser: Sendable, Hashable {
  /// The name that the user types into the login form, and that introspection and `/api/me` return.
  public var name: String
  /// The password, which no description shows.
  ///
  /// The login page shows only the password of the default user ``alice``.
  public var password: String
  /// The user's name on the sandbox's pages.
  public var displayName: String
  /// The user's identifier for apps, `sub`; by default, the user's name.
  public var subject: String
  /// The claims about the user that apps can get.
  public var profile: SandboxProfile

  /// Creates a user; if `displayName` is `nil`, the display name is `name`.
  ///
  /// If `profile` is `nil`, the profile contains only the two names.
  public init(
    name: String, password: String, displayName: String? = nil, profile: SandboxProfile? = nil
  ) {
    self.name = name
    self.password = password
    self.displayName = displayName ?? name
    subject = name
    self.profile =
      profile ?? SandboxProfile(name: displayName ?? name, preferredUserName: name)
  }

  /// The user `alice`, whose password is `alice-password`.
  public static let alice = SandboxUser(
    name: "alice", password: "alice-password", displayName: "Alice Liddell", profile: .alice)
  /// The user `bob`, whose password is `bob-password`.
  public static let bob = SandboxUser(
    name: "bob", password: "bob-password", displayName: "Bob Cratchit", profile: .bob)
}

extension SandboxUser: Redacted {
  /// The user's name, without the password.
  public var description: String { name }
  package var shownParts: KeyValuePairs<String, Any> {
    ["name": name, "displayName": displayName]
  }
}
