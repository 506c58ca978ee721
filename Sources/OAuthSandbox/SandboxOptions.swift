public import SQBasics
public import SQFoundation

/// The settings of a sandbox; the defaults are enough for a demo.
public struct SandboxOptions: Sendable {
  /// The port on 127.0.0.1; 0 selects a free one.
  public var port: UInt16 = 0
  /// Whether the issuer identifier ends with a slash wherever the sandbox states it.
  ///
  /// - SeeAlso: RFC 8414, section 3.3
  public var issuerEndsWithSlash = false
  /// The users who can sign in.
  public var users: [SandboxUser] = [.alice, .bob]
  /// The registered apps.
  public var clients: [SandboxClient] = [.app, .service]
  /// The token that a client needs to register itself; `nil` lets every client register.
  ///
  /// - SeeAlso: RFC 7591, section 3
  public var initialAccessToken: String?
  /// The scopes that apps can request.
  public var scopes: [SandboxScope] = SandboxScope.openID + SandboxScope.standard
  /// The settings of the sandbox as an OpenID provider.
  public var openID = SandboxOpenIDOptions()
  /// The lifetime of access tokens; `nil` omits `expires_in`, and the tokens never expire.
  ///
  /// If it is `nil`, an access token in the form of a JWT has an `exp` a day after its issue.
  public var accessTokenLifetime: Duration? = .seconds(3600)
  /// The form of access tokens.
  public var accessTokenFormat = SandboxAccessTokenFormat.opaque
  /// The services that a request may name in `resource`, or a token exchange in `audience`; `nil`
  /// for any service.
  ///
  /// The sandbox's own resources are always known.
  ///
  /// - SeeAlso: RFC 8707, section 2; RFC 8693, section 2.2.2 (`invalid_target`)
  public var audiences: Set<String>?
  /// The settings of the API as a protected resource, which clients discover by its address.
  public var resources = SandboxResourceOptions()
  /// The source of the metadata documents of clients whose identifiers are URLs; `nil` to accept no
  /// such clients.
  public var clientDocuments: SandboxClientDocuments?
  /// The types of authorization details that apps can request; if empty, the sandbox ignores
  /// authorization details.
  ///
  /// - SeeAlso: RFC 9396
  public var authorizationDetailsTypes: [SandboxAuthorizationDetailsType] = []
  /// Whether tokens are bound to clients' keys, and how proofs are checked.
  public var dpop = SandboxDPoPOptions()
  /// The algorithms that may sign authorization requests; if empty, the sandbox does not support
  /// signed requests.
  ///
  /// The HMAC algorithms have no effect: a client signs with one of its ``SandboxClient/keys``.
  ///
  /// - SeeAlso: RFC 9101
  public var requestObjectAlgorithms: [SandboxSigningAlgorithm] = []
  /// Whether every sign-in with a browser must be a signed request.
  ///
  /// It has no effect without ``requestObjectAlgorithms``.
  ///
  /// - SeeAlso: RFC 9101, section 10.5
  public var requiresSignedRequests = false
  /// Whether a signed request must contain `nbf`, which is always checked if present.
  ///
  /// - SeeAlso: FAPI 2.0 Message Signing, section 5.3.1
  public var requestObjectsNeedStart = false
  /// The algorithms that sign authorization responses; if empty, the sandbox does not support the
  /// signed response modes.
  ///
  /// The first algorithm is the default for clients that name none.
  ///
  /// - SeeAlso: JWT Secured Authorization Response Mode for OAuth 2.0 (JARM)
  public var authorizationResponseAlgorithms: [SandboxSigningAlgorithm] = []
  /// Whether every sign-in with a browser must ask for a signed response.
  ///
  /// It has no effect without ``authorizationResponseAlgorithms``.
  public var requiresSignedAuthorizationResponses = false
  /// The lifetime of authorization codes.
  public var codeLifetime: Duration = .seconds(60)
  /// Whether every sign-in with a browser must push its parameters first.
  ///
  /// - SeeAlso: RFC 9126, section 5
  public var requiresPushedAuthorizationRequests = false
  /// The lifetime of the reference to pushed parameters, which is valid for one sign-in.
  public var pushedRequestLifetime: Duration = .seconds(60)
  /// The lifetime of device codes: the time in which the user must enter the user code and allow
  /// the access.
  public var deviceCodeLifetime: Duration = .seconds(600)
  /// The minimum time between two token requests of a device.
  ///
  /// A request that comes more than half a second too early gets `slow_down` and adds 5 seconds to
  /// the time. Responses name the interval in whole seconds, and a client of this package waits at
  /// least one second. In a test, the wait takes no real time if the client has a test clock, such
  /// as `FakeClock` of `SequencingOAuthTesting`.
  ///
  /// - SeeAlso: RFC 8628, section 3.5
  public var deviceInterval: Duration = .seconds(5)
  /// Whether a user's consent results in a refresh token.
  ///
  /// A client that may not use the grant type `refresh_token` never gets one.
  public var issuesRefreshTokens = true
  /// Whether a refresh token can be used only once.
  ///
  /// If `true`, each refresh returns a new refresh token. If an old one is used again, all tokens
  /// of the same sign-in are revoked (RFC 9700, section 4.14.2). If `false`, the refresh token
  /// stays valid and is not sent again.
  public var rotatesRefreshTokens = true
  /// How long an unused refresh token stays valid; `nil` for as long as the user's permission
  /// lasts.
  ///
  /// Responses with a refresh token name this time as `refresh_token_timeout`, limited to the rest
  /// of ``authorizationLifetime``.
  ///
  /// - SeeAlso: draft-ietf-oauth-refresh-token-expiration, section 5.1
  public var refreshTokenTimeout: Duration?
  /// How long a user's permission lasts, regardless of refreshes; `nil` for no limit.
  ///
  /// Responses with a refresh token name the remaining time as `authorization_expires_in`.
  public var authorizationLifetime: Duration?
  /// The values of `grant_type` that the token endpoint accepts; `nil` for all.
  ///
  /// ``extensionGrants`` are always accepted.
  public var grantTypes: Set<String>?
  /// The additional grants of the token endpoint, by `grant_type`.
  ///
  /// Each closure gets the form of a request whose client is authenticated. It returns the name of
  /// the token's user, or `nil` to reject the request with `invalid_grant`. The user does not have
  /// to be registered.
  ///
  /// ```swift
  /// options.extensionGrants["urn:ietf:params:oauth:grant-type:saml2-bearer"] = { form in
  ///   form.contains { $0.name == "assertion" && $0.value == "good" } ? "alice" : nil
  /// }
  /// ```
  ///
  /// - SeeAlso: RFC 6749, section 4.5
  public var extensionGrants: [String: @Sendable (_ form: [SandboxParameter]) -> String?] = [:]
  /// The authentication methods that the sandbox supports; each client must also be registered for
  /// the method that it uses.
  public var authenticationMethods = Set(SandboxClient.Authentication.allCases)
  /// The algorithms that may sign the assertion of a client or of a trusted issuer.
  public var assertionAlgorithms = SandboxSigningAlgorithm.allCases
  /// Whether the `aud` of a client's assertion must be the issuer.
  ///
  /// If `false`, it may also be the address of the token endpoint. In both cases it must be a
  /// single string.
  ///
  /// - SeeAlso: FAPI 2.0 Security Profile, section 5.3.2.1
  public var requiresIssuerAsAudience = false
  /// The issuers whose assertions authenticate clients, or are exchanged for tokens.
  public var trustedIssuers: [SandboxTrustedIssuer] = []
  /// Whether the identifier and the secret in Basic credentials are form-decoded.
  ///
  /// RFC 6749, section 2.3.1, requires it. Many servers do not decode them, and `false` makes the
  /// sandbox act like such a server.
  public var decodesBasicCredentials = true
  /// Whether confidential clients must use PKCE too; public clients always must.
  public var requiresPKCEOfAll = false
  /// The maximum total size of the files in one drive, in bytes.
  public var driveBytes = 64 << 20
  /// Whether a new drive contains a few sample documents.
  public var drivesHaveDocuments = true
  /// The source of the current time; ``SandboxServer/advance(by:)`` adds to its result.
  ///
  /// The closure must not call the sandbox.
  public var now: @Sendable () -> Date = { Date() }

  /// Creates the default settings.
  public init() {}
}

extension SandboxOptions: Redacted {
  /// A fixed text, without the secrets of users and clients.
  public var description: String { "options of a sandbox" }
}

/// A scope that an app can request, with its description on the consent page.
public struct SandboxScope: Sendable, Hashable {
  /// The scope's name in requests.
  public var name: String
  /// The text on the consent page, which follows the words "It will be able to".
  public var summary: String

  /// Creates a scope from its name and its description.
  public init(_ name: String, _ summary: String) {
    self.name = name
    self.summary = summary
  }

  /// The scopes about the user's identity: `openid`, `email`, `phone` and `address`.
  ///
  /// A request without scopes gets none of these.
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
