/// The settings of a sandbox as an OpenID provider; the defaults suit most tests.
public struct SandboxOpenIDOptions: Sendable {
  /// The algorithms that the discovery document lists.
  ///
  /// Each client has its own, ``SandboxClient/idTokenAlgorithm``, whether it is in the list or not.
  public var algorithms = SandboxSigningAlgorithm.allCases
  /// How long an ID token is valid.
  public var idTokenLifetime: Duration = .seconds(600)
  /// Whether the claims of the scopes `profile`, `email`, `phone` and `address` are in the ID token
  /// too.
  ///
  /// If `false`, only the UserInfo endpoint returns them (OpenID Connect Core, section 5.4).
  public var putsUserClaimsIntoIDToken = false
  /// Whether every ID token contains `auth_time`, not only after `max_age` or when it is asked for.
  public var alwaysTellsAuthenticationTime = false
  /// Whether every ID token contains `azp`, not only with several audiences.
  public var alwaysTellsAuthorizedParty = false
  /// Whether the ID token from a code contains `c_hash`, which only other flows require.
  public var tellsCodeHash = false
  /// Whether a refresh returns an ID token.
  public var issuesIDTokenOnRefresh = true
  /// Whether the ID token from a refresh repeats the `nonce` of the sign-in.
  public var repeatsNonceOnRefresh = false
  /// The authentication contexts that a sign-in can reach, the default one first.
  public var acrValues = ["urn:sandbox:password", "urn:sandbox:careful"]
  /// Whether keys and tokens have the key's ID, `kid`.
  public var namesKeys = true
  /// The keys in the key set that sign nothing.
  public var decoyKeys = DecoyKeys.ownIDs
  /// The `Cache-Control` of the key set; `nil` sends none.
  public var keySetCacheControl: String? = "public, max-age=3600"

  /// How the key set disturbs a client that does not look at a key's type, use and algorithm.
  public enum DecoyKeys: Sendable, Hashable, CaseIterable {
    /// The key set contains only keys that sign.
    case none
    /// Keys of other types, uses and algorithms come first, each with another ID.
    case ownIDs
    /// Keys of other types, uses and algorithms come first, each with the ID of a key that signs.
    case repeatedIDs
  }

  /// Makes the default settings.
  public init() {}
}
