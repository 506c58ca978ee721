public import SQBasics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The settings of a sandbox; for a demo the defaults are enough.
public struct SandboxOptions: Sendable {
  /// The port on 127.0.0.1; 0 takes any free one.
  public var port: UInt16 = 0
  /// The users who can sign in.
  public var users: [SandboxUser] = [.alice, .bob]
  /// The apps that are registered.
  public var clients: [SandboxClient] = [.app, .service]
  /// The token that a client needs to register itself; `nil` lets every client do so.
  ///
  /// - SeeAlso: RFC 7591, section 3
  public var initialAccessToken: String?
  /// The scopes that apps can ask for.
  public var scopes: [SandboxScope] = SandboxScope.openID + SandboxScope.standard
  /// The settings of the sandbox as an OpenID provider.
  public var openID = SandboxOpenIDOptions()
  /// How long an access token is valid; `nil` omits `expires_in`, and the token never expires.
  public var accessTokenLifetime: Duration? = .seconds(3600)
  /// The form of access tokens.
  public var accessTokenFormat = SandboxAccessTokenFormat.opaque
  /// The services that tokens can be exchanged for, in `audience` or `resource`; `nil` for any.
  ///
  /// - SeeAlso: RFC 8693, section 2.2.2 (`invalid_target`)
  public var audiences: Set<String>?
  /// How long a code can be redeemed.
  public var codeLifetime: Duration = .seconds(60)
  /// How long a user may take to enter a device's code and to allow the access.
  public var deviceCodeLifetime: Duration = .seconds(600)
  /// The shortest time between two requests of a device for its token.
  ///
  /// A request that comes sooner gets `slow_down`, and lengthens the time by 5 s.
  ///
  /// - SeeAlso: RFC 8628, section 3.5
  public var deviceInterval: Duration = .seconds(5)
  /// Whether a user's permission comes with a refresh token.
  public var issuesRefreshTokens = true
  /// Whether a refresh token can be used only once.
  ///
  /// If `true`, each refresh returns a new refresh token, and using an old one again revokes all
  /// tokens of the same sign-in (RFC 9700, section 4.14.2). If `false`, the refresh token stays
  /// valid and is not sent again.
  public var rotatesRefreshTokens = true
  /// The grants beyond RFC 6749 that the token endpoint offers, by their `grant_type`.
  ///
  /// Each closure gets the form of a request whose client is authenticated. It returns the name of
  /// the user to whom the token belongs, or `nil` to refuse with `invalid_grant`. The user need not
  /// be registered.
  ///
  /// ```swift
  /// options.extensionGrants["urn:ietf:params:oauth:grant-type:saml2-bearer"] = { form in
  ///   form.contains { $0.name == "assertion" && $0.value == "good" } ? "alice" : nil
  /// }
  /// ```
  ///
  /// - SeeAlso: RFC 6749, section 4.5
  public var extensionGrants: [String: @Sendable (_ form: [SandboxParameter]) -> String?] = [:]
  /// Whether the identifier and the secret in Basic credentials are form-decoded.
  ///
  /// RFC 6749, section 2.3.1, requires it. Many servers take both as they are; `false` makes the
  /// sandbox act like such a server.
  public var decodesBasicCredentials = true
  /// Whether clients with a secret must use PKCE too; public clients always must.
  public var requiresPKCEOfAll = false
  /// The most bytes that the files of one drive may have together.
  public var driveBytes = 64 << 20
  /// Whether a drive contains a few documents when it is opened for the first time.
  public var drivesHaveDocuments = true
  /// The clock; ``SandboxServer/advance(by:)`` moves its time.
  public var now: @Sendable () -> Date = { Date() }

  /// Makes the default settings.
  public init() {}
}

extension SandboxOptions: Redacted {
  /// A fixed text, without the secrets of users and clients.
  public var description: String { "options of a sandbox" }
}

/// A scope that an app can ask for, with its description on the consent page.
public struct SandboxScope: Sendable, Hashable {
  /// The scope's name in requests.
  public var name: String
  /// What the scope allows, in words that follow "The app will be able to".
  public var summary: String

  /// Makes a scope from its name and its description.
  public init(_ name: String, _ summary: String) {
    self.name = name
    self.summary = summary
  }

  /// The scopes for who the user is: `openid`, `email`, `phone` and `address`.
  ///
  /// A request that names no scope gets none of these.
  ///
  /// - SeeAlso: OpenID Connect Core 1.0, section 5.4
  public static let openID = [
    SandboxScope("openid", "Know that it is you"),
    SandboxScope("email", "See your e-mail address"),
    SandboxScope("phone", "See your phone number"),
    SandboxScope("address", "See your postal address"),
  ]

  /// The other default scopes: `profile`, `demo`, `files` and `offline_access`.
  public static let standard = [
    SandboxScope("profile", "See your name and your user name"),
    SandboxScope("demo", "List the sample genome files, and read your own"),
    SandboxScope("files", "List, add, change and delete your own files"),
    SandboxScope("offline_access", "Keep its access while you are away"),
  ]
}
