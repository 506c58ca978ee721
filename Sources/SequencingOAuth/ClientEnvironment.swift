/// The parts that a client works with; each has a default and can be replaced.
public struct ClientEnvironment: Sendable {
  /// Carries the requests.
  public var httpClient: any HTTPClient = CurlHTTPClient.shared
  /// Shows the authorization server's pages.
  public var userAgent: any UserAgent = SystemBrowser()
  /// Keeps tokens; by default in memory only.
  public var tokenStore: any TokenStore = MemoryTokenStore()
  /// Tells the time.
  public var clock: any WallClock = SystemClock()
  /// Reads token responses.
  public var tokenResponseParser: any TokenResponseParser = StandardTokenResponseParser()
  /// Puts tokens on requests.
  public var requestAuthenticator: any ResourceRequestAuthenticator = BearerAuthenticator()

  /// Makes an environment of the defaults.
  public init() {}
}
