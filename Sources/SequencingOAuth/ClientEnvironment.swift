import SQBasics

/// The replaceable parts of a client, such as its HTTP client, browser, store and clock; each has a
/// default.
///
/// Modules with copies of one environment share one timer and the servers' metadata that the SDK
/// has fetched.
public struct ClientEnvironment: Sendable {
  private struct Parts: Sendable {
    var transport: any HTTPTransport = CurlTransport.shared
    var userAgent: any UserAgent = SystemBrowser()
    var landingPage = LandingPageStyle()
    var storeChoice = Boxed<any TokenStore>(MemoryTokenStore())
    var clock: any WallClock = SystemClock()
    var tokenResponseParser: any TokenResponseParser = StandardTokenResponseParser()
    var requestAuthenticator: any ResourceRequestAuthenticator = AuthorizationFieldAuthenticator()
    var refreshesWithoutStore = false
    var storeRetryTime = Duration.seconds(30)
    var observer: ClientObserver?
    var metadata = MetadataCache()
    var signingKeys = SigningKeys()
    var proofServers = ProofServers()
    /// A registration continues even if its caller is cancelled, so every equal later call must
    /// join it.
    var registrations = SharedFetches<
      ClientRegistrar.SharedCall, ClientRegistration, SQOAuthError
    >(keepsValues: false, abandonedLimit: .max)
    var oneTimeValues: (any OneTimeValues)?
    let memory = MemoryOneTimeValues()
    var timers = SessionTimers(SystemClock())
  }

  private var parts = Boxed(Parts())

  /// Creates an environment with the default parts.
  public init() {}

  /// The client that sends the HTTP requests.
  public var transport: any HTTPTransport {
    get { parts.value.transport }
    set {
      var changed = parts.value
      changed.transport = newValue
      // Metadata that one HTTP client fetched may describe servers that only that client can reach.
      changed.metadata = MetadataCache()
      changed.signingKeys = SigningKeys()
      changed.proofServers = ProofServers()
      parts.value = changed
    }
  }

  /// The user agent that shows the authorization server's pages to the user.
  public var userAgent: any UserAgent {
    get { parts.value.userAgent }
    set { parts.value.userAgent = newValue }
  }

  /// The name and the colors of the page that the browser shows after the redirect.
  public var landingPage: LandingPageStyle {
    get { parts.value.landingPage }
    set { parts.value.landingPage = newValue }
  }

  /// The store for the accounts and their tokens; by default in memory only.
  ///
  /// If a user is signed in when the app sets another store, the user's account is saved there soon
  /// after, unless that store has a newer record of the account; ``AccountOperations/flush()``
  /// waits until that is done. The previous store keeps its record, which becomes outdated.
  public var tokenStore: any TokenStore {
    get { parts.value.storeChoice.value }
    set { parts.value.storeChoice = Boxed(newValue) }
  }

  /// The clock that tells the time, for example for the expiry of tokens.
  public var clock: any WallClock {
    get { parts.value.clock }
    set {
      var changed = parts.value
      changed.clock = newValue
      changed.timers = SessionTimers(newValue)
      parts.value = changed
    }
  }

  /// The parser that reads token responses.
  public var tokenResponseParser: any TokenResponseParser {
    get { parts.value.tokenResponseParser }
    set { parts.value.tokenResponseParser = newValue }
  }

  /// The authenticator that puts tokens on requests.
  public var requestAuthenticator: any ResourceRequestAuthenticator {
    get { parts.value.requestAuthenticator }
    set { parts.value.requestAuthenticator = newValue }
  }

  /// Whether to refresh a token even if the new token cannot be stored; `false` by default.
  ///
  /// By default, before the SDK sends a refresh token that the server accepts only once, the
  /// ``tokenStore`` must reserve space for the next one. So a failing disk does not end a session.
  /// Set this to `true` for a daemon that should continue with tokens in memory, for example on a
  /// read-only file system. When that process ends, its users must sign in again.
  public var refreshesWithoutStore: Bool {
    get { parts.value.refreshesWithoutStore }
    set { parts.value.refreshesWithoutStore = newValue }
  }

  /// The observer of what the SDK does, for logs, metrics and traces; `nil` by default.
  ///
  /// Set it before the first request: operations that are already under way are not observed.
  public var observer: ClientObserver? {
    get { parts.value.observer }
    set { parts.value.observer = newValue }
  }

  /// How long to retry saving a one-time refresh token when the program ends.
  package var storeRetryTime: Duration {
    get { parts.value.storeRetryTime }
    set { parts.value.storeRetryTime = newValue }
  }

  /// The list of used logout tokens and DPoP proofs, and of finished web sign-ins, so that each
  /// works only once.
  ///
  /// By default it is `nil`. Then a ``tokenStore`` that implements ``OneTimeValues`` keeps the
  /// list. `SQLiteTokenStore` and `PostgreSQLTokenStore` do, for all processes that share them.
  /// With any other store, the list is in the memory of this environment. If several environments
  /// or processes serve one application with such a store, set a list that they share.
  public var oneTimeValues: (any OneTimeValues)? {
    get { parts.value.oneTimeValues }
    set { parts.value.oneTimeValues = newValue }
  }

  /// The list of used one-time values: the app's list, else the store's, else this environment's.
  package var sharedOneTimeValues: any OneTimeValues { givenOneTimeValues ?? parts.value.memory }

  /// The list of used one-time values of the app or the store; `nil` if neither has one.
  package var givenOneTimeValues: (any OneTimeValues)? {
    parts.value.oneTimeValues ?? tokenStore as? any OneTimeValues
  }

  /// The token store, and the identity of the app's choice of it.
  ///
  /// Stores cannot be compared. So a session recognizes by the shared box that the app has set no
  /// other store.
  var storeChoice: Boxed<any TokenStore> { parts.value.storeChoice }
  /// The cache of the servers' metadata.
  var metadata: MetadataCache { parts.value.metadata }
  /// The cache of the issuers' public keys.
  var signingKeys: SigningKeys { parts.value.signingKeys }
  /// The servers' nonces and clock differences, which are needed for DPoP proofs.
  var proofServers: ProofServers { parts.value.proofServers }
  /// The registrations that are under way; a call with equal parameters joins the same
  /// registration.
  var registrations: SharedFetches<ClientRegistrar.SharedCall, ClientRegistration, SQOAuthError> {
    parts.value.registrations
  }
  /// The timer that all sessions share.
  var timers: SessionTimers { parts.value.timers }
}
