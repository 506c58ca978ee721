import SQBasics

/// The parts that a client works with; each has a default and can be replaced.
///
/// Modules that are made with copies of one environment share one timer, and what the SDK has
/// fetched of their servers' metadata.
public struct ClientEnvironment: Sendable {
  private struct Parts: Sendable {
    var httpClient: any HTTPClient = CurlHTTPClient.shared
    var userAgent: any UserAgent = SystemBrowser()
    var landingPage = LandingPageStyle()
    var tokenStore: any TokenStore = MemoryTokenStore()
    var clock: any WallClock = SystemClock()
    var tokenResponseParser: any TokenResponseParser = StandardTokenResponseParser()
    var requestAuthenticator: any ResourceRequestAuthenticator = BearerAuthenticator()
    var refreshesWithoutStore = false
    var patienceWithStore = Duration.seconds(30)
    var metadata = MetadataCache()
    var signingKeys = SigningKeys()
    var oneTimeValues: (any OneTimeValues)?
    let memory = MemoryOneTimeValues()
    var timers = TimerQueue(SystemClock())
  }

  private var parts = Boxed(Parts())

  /// Makes an environment with the default parts.
  public init() {}

  /// The client that sends the HTTP requests.
  public var httpClient: any HTTPClient {
    get { parts.value.httpClient }
    set {
      var changed = parts.value
      changed.httpClient = newValue
      // Metadata that one HTTP client found may describe servers that only that client can reach.
      changed.metadata = MetadataCache()
      changed.signingKeys = SigningKeys()
      parts.value = changed
    }
  }

  /// The user agent that shows the authorization server's pages to the user.
  public var userAgent: any UserAgent {
    get { parts.value.userAgent }
    set { parts.value.userAgent = newValue }
  }

  /// The name and the colours of the page that the browser shows after the redirect.
  public var landingPage: LandingPageStyle {
    get { parts.value.landingPage }
    set { parts.value.landingPage = newValue }
  }

  /// The store that keeps the tokens; by default they are in memory only.
  public var tokenStore: any TokenStore {
    get { parts.value.tokenStore }
    set { parts.value.tokenStore = newValue }
  }

  /// The clock that tells the time, for example for the expiry of tokens.
  public var clock: any WallClock {
    get { parts.value.clock }
    set {
      var changed = parts.value
      changed.clock = newValue
      changed.timers = TimerQueue(newValue)
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
  /// By default, a refresh token that the server accepts only once is sent only after the
  /// ``tokenStore`` has reserved space for the next one, so that no failure of a disk ends a
  /// sign-in. Set this to `true` for a daemon that should continue with tokens in memory, for
  /// example on a read-only file system. When that process ends, its users must sign in again.
  public var refreshesWithoutStore: Bool {
    get { parts.value.refreshesWithoutStore }
    set { parts.value.refreshesWithoutStore = newValue }
  }

  /// How long a program that ends offers a one-time token to a store that fails.
  package var patienceWithStore: Duration {
    get { parts.value.patienceWithStore }
    set { parts.value.patienceWithStore = newValue }
  }

  /// What remembers the logout tokens and the web sign-ins that count no more.
  ///
  /// By default, `nil`, it is the ``tokenStore`` if that can do it, as `SQLiteTokenStore` and
  /// `PostgreSQLTokenStore` can for all processes that share them; with any other store it is the
  /// memory of this process. If several processes serve one application with such a store, give
  /// them one that they share.
  public var oneTimeValues: (any OneTimeValues)? {
    get { parts.value.oneTimeValues }
    set { parts.value.oneTimeValues = newValue }
  }

  /// What remembers one-time values, whether the app has chosen it or not.
  package var sharedOneTimeValues: any OneTimeValues {
    parts.value.oneTimeValues ?? parts.value.tokenStore as? any OneTimeValues ?? parts.value.memory
  }

  /// The metadata of the servers, as far as it is known.
  var metadata: MetadataCache { parts.value.metadata }
  /// The public keys of the issuers, as far as they are known.
  var signingKeys: SigningKeys { parts.value.signingKeys }
  /// The timer that all sessions share.
  var timers: TimerQueue { parts.value.timers }
}
