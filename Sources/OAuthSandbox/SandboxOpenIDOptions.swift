/// The settings of a sandbox as an OpenID provider; the defaults suit most tests.
public struct SandboxOpenIDOptions: Sendable {
  /// The signing algorithms that the discovery document lists.
  ///
  /// Each client uses its own ``SandboxClient/idTokenAlgorithm``, even if it is not in this list.
  /// Only a client that registers itself, or that a document describes, must choose an algorithm
  /// from this list.
  public var algorithms = SandboxSigningAlgorithm.allCases
  /// The lifetime of ID tokens.
  public var idTokenLifetime: Duration = .seconds(600)
  /// Whether ID tokens also contain the claims of the scopes `profile`, `email`, `phone` and
  /// `address`.
  ///
  /// If `false`, only the UserInfo endpoint returns them (OpenID Connect Core, section 5.4).
  public var putsUserClaimsIntoIDToken = false
  /// Whether every ID token contains `auth_time`.
  ///
  /// If `false`, an ID token contains it only if the app sent `max_age` or requested the claim.
  public var alwaysTellsAuthenticationTime = false
  /// Whether every ID token contains `azp`.
  ///
  /// If `false`, only ID tokens with several audiences contain it.
  public var alwaysTellsAuthorizedParty = false
  /// Whether an ID token for an authorization code contains `c_hash`, which the code flow does not
  /// require.
  public var tellsCodeHash = false
  /// Whether a refresh returns a new ID token.
  public var issuesIDTokenOnRefresh = true
  /// Whether the ID token from a refresh repeats the `nonce` of the sign-in.
  public var repeatsNonceOnRefresh = false
  /// Which ID tokens contain the ID of the browser's session, `sid`.
  public var sessionIDs = SessionIDs.always
  /// The authentication context classes that a sign-in can reach, with the default first.
  public var acrValues = ["urn:sandbox:password", "urn:sandbox:careful"]
  /// Whether the key set and the tokens contain the key's ID, `kid`.
  public var namesKeys = true
  /// The kind of additional keys in the key set, which sign nothing.
  public var decoyKeys = DecoyKeys.ownIDs
  /// The value of `Cache-Control` for the key set; `nil` omits the field.
  public var keySetCacheControl: String? = "public, max-age=3600"

  /// The ID tokens that contain the ID of the browser's session, `sid`.
  ///
  /// Logout tokens may contain it with any of these values.
  public enum SessionIDs: Sendable, Hashable, CaseIterable {
    /// Every ID token contains it.
    case always
    /// The ID token from a refresh does not contain it, as with some providers.
    case exceptOnRefresh
    /// No ID token contains it.
    case never
  }

  /// The decoy keys in the key set, which confuse a client that ignores a key's type, use and
  /// algorithm.
  public enum DecoyKeys: Sendable, Hashable, CaseIterable {
    /// The key set contains only signing keys.
    case none
    /// Each decoy key has its own ID, except one decoy key without an ID.
    ///
    /// The decoy keys come before the signing keys.
    case ownIDs
    /// Each decoy key has the ID of a signing key, except one decoy key without an ID.
    ///
    /// The decoy keys come before the signing keys.
    case repeatedIDs
  }

  /// Creates the default settings.
  public init() {}
}
