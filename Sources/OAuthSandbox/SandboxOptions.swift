#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// How a sandbox is set up; the defaults suffice for a demo.
public struct SandboxOptions: Sendable {
  /// The port on 127.0.0.1; 0 takes any free one.
  public var port: UInt16 = 0
  /// Who can sign in.
  public var users: [SandboxUser] = [.alice, .bob]
  /// Which apps are registered.
  public var clients: [SandboxClient] = [.app, .service]
  /// What can be asked for.
  public var scopes: [SandboxScope] = SandboxScope.standard
  /// How long an access token is valid; `nil` leaves `expires_in` out, and the token never expires.
  public var accessTokenLifetime: Duration? = .seconds(3600)
  /// How long a code can be redeemed.
  public var codeLifetime: Duration = .seconds(60)
  /// Whether grants that a user gave come with a refresh token.
  public var issuesRefreshTokens = true
  /// Whether a refresh token can be used once only.
  ///
  /// Then each refresh brings a new one, and using an old one again revokes all that came from the
  /// same sign-in (RFC 9700, section 4.14.2). Otherwise it stays, and is not sent again.
  public var rotatesRefreshTokens = true
  /// The grants beyond RFC 6749 that the token endpoint offers, by their `grant_type`.
  ///
  /// Each gets the form of a request whose client is authenticated, and returns the name of the user
  /// whom the token is for; `nil` refuses with `invalid_grant`. The user need not be registered.
  ///
  /// ```swift
  /// options.extensionGrants["urn:ietf:params:oauth:grant-type:jwt-bearer"] = { form in
  ///   form.contains { $0.name == "assertion" && $0.value == "good" } ? "alice" : nil
  /// }
  /// ```
  ///
  /// - SeeAlso: RFC 6749, section 4.5
  public var extensionGrants: [String: @Sendable (_ form: [SandboxParameter]) -> String?] = [:]
  /// Whether the identifier and the secret of Basic credentials are form-decoded.
  ///
  /// RFC 6749, section 2.3.1, has it so. Many servers take both as they are; `false` makes the sandbox
  /// one of them.
  public var decodesBasicCredentials = true
  /// Whether clients with a secret must use PKCE too; public ones always must.
  public var requiresPKCEOfAll = false
  /// How many bytes the files of one drive may have together.
  public var driveBytes = 64 << 20
  /// Whether a drive that is opened for the first time has a few documents in it.
  public var drivesHaveDocuments = true
  /// The clock; ``SandboxServer/advance(by:)`` moves what it says.
  public var now: @Sendable () -> Date = { Date() }

  /// Makes the default set-up.
  public init() {}
}

/// Something that an app can ask for, and how the consent page says it.
public struct SandboxScope: Sendable, Hashable {
  /// The scope token.
  public var name: String
  /// What it allows, in words that follow "The app will be able to".
  public var summary: String

  /// Makes a scope.
  public init(_ name: String, _ summary: String) {
    self.name = name
    self.summary = summary
  }

  /// `profile`, `demo`, `files` and `offline_access`.
  public static let standard = [
    SandboxScope("profile", "See your name and your user name"),
    SandboxScope("demo", "List the sample genome files, and read your own"),
    SandboxScope("files", "List, add, change and delete your own files"),
    SandboxScope("offline_access", "Keep its access while you are away"),
  ]
}
