import Basics

/// The parts that a client works with; each has a default and can be replaced.
///
/// What modules share that are made with copies of one environment: the metadata of their servers,
/// which is fetched once, and one timer for all.
public struct ClientEnvironment: Sendable {
  private struct Parts: Sendable {
    var httpClient: any HTTPClient = CurlHTTPClient.shared
    var userAgent: any UserAgent = SystemBrowser()
    var landingPage = LandingPageStyle()
    var tokenStore: any TokenStore = MemoryTokenStore()
    var clock: any WallClock = SystemClock()
    var tokenResponseParser: any TokenResponseParser = StandardTokenResponseParser()
    var requestAuthenticator: any ResourceRequestAuthenticator = BearerAuthenticator()
    var refreshesUnkeptTokens = false
    var metadata = MetadataCache()
    var timers = TimerQueue(SystemClock())
  }

  private var parts = Boxed(Parts())

  /// Makes an environment of the defaults.
  public init() {}

  /// Carries the requests.
  public var httpClient: any HTTPClient {
    get { parts.value.httpClient }
    set {
      var changed = parts.value
      changed.httpClient = newValue
      // What another client found may be reached by that one only.
      changed.metadata = MetadataCache()
      parts.value = changed
    }
  }

  /// Shows the authorization server's pages.
  public var userAgent: any UserAgent {
    get { parts.value.userAgent }
    set { parts.value.userAgent = newValue }
  }

  /// The name and the colours of the page that the browser shows after the redirect.
  public var landingPage: LandingPageStyle {
    get { parts.value.landingPage }
    set { parts.value.landingPage = newValue }
  }

  /// Keeps tokens; by default in memory only.
  public var tokenStore: any TokenStore {
    get { parts.value.tokenStore }
    set { parts.value.tokenStore = newValue }
  }

  /// Tells the time.
  public var clock: any WallClock {
    get { parts.value.clock }
    set {
      var changed = parts.value
      changed.clock = newValue
      changed.timers = TimerQueue(newValue)
      parts.value = changed
    }
  }

  /// Reads token responses.
  public var tokenResponseParser: any TokenResponseParser {
    get { parts.value.tokenResponseParser }
    set { parts.value.tokenResponseParser = newValue }
  }

  /// Puts tokens on requests.
  public var requestAuthenticator: any ResourceRequestAuthenticator {
    get { parts.value.requestAuthenticator }
    set { parts.value.requestAuthenticator = newValue }
  }

  /// Whether a token is refreshed although its successor cannot be kept; `false` by default.
  ///
  /// A refresh token that the server accepts once is sent only after the ``tokenStore`` has made
  /// sure of room for its successor, so that no failure of a disk ends a sign-in. A daemon that
  /// would rather live on what it has in memory than stop, on a read-only file system for example,
  /// sets this to `true`. When that process ends, its users must sign in again.
  public var refreshesUnkeptTokens: Bool {
    get { parts.value.refreshesUnkeptTokens }
    set { parts.value.refreshesUnkeptTokens = newValue }
  }

  /// What is known of the servers.
  var metadata: MetadataCache { parts.value.metadata }
  /// The timer of every session.
  var timers: TimerQueue { parts.value.timers }
}
