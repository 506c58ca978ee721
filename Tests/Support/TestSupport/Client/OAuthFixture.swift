import Foundation
import SQBasics
import SequencingOAuth
import Testing

/// An `SQOAuth` whose browser, network, clock and store a test controls.
final class OAuthFixture: Sendable {
  /// What the browser does with the URL of the authorization page.
  ///
  /// The closure gets the fixture in order to send the redirect.
  typealias Browser = @Sendable (OAuthFixture, AuthorizationURL) async throws -> Void

  static let issuer = "https://id.example"

  let oauth: SQOAuth
  let delegate = RecordingDelegate()
  let http: ScriptedTransport
  let clock = ManualClock()
  let store = MemoryTokenStore()
  private let pages = Locked<[AuthorizationURL]>([])

  /// The URLs that were opened in the browser.
  var opened: [AuthorizationURL] { pages.withLock(\.self) }

  init(
    answer: @escaping ScriptedTransport.Answer = ScriptedTransport.token(),
    accountID: String = "default", browser: @escaping Browser = OAuthFixture.allow
  ) {
    http = ScriptedTransport(answer)
    oauth = SQOAuth(accountID: accountID)
    var environment = ClientEnvironment()
    environment.transport = http
    environment.clock = clock
    environment.tokenStore = store
    // A store that fails in a test never recovers, so a retry would be useless.
    environment.storeRetryTime = .zero
    environment.userAgent = CustomUserAgent { [weak self] url in
      guard let self else { return }
      let page = try AuthorizationURL(url)
      self.pages.withLock { $0.append(page) }
      try await browser(self, page)
    }
    oauth.environment = environment
    oauth.authorizationDelegate = delegate
  }

  /// Registers a client whose redirects the app receives.
  @discardableResult
  func register(
    redirectURI: String? = "com.example.app:/cb", secret: String? = "s", scope: String? = "demo",
    provider: Provider = .endpoints(
      authorization: "https://id.example/authorize", token: "https://id.example/token"),
    change: (inout ClientConfiguration) -> Void = { _ in }
  ) throws -> Self {
    var configuration = try ClientConfiguration(
      clientID: "client", clientSecret: secret, redirectURI: redirectURI, scope: scope,
      provider: provider)
    change(&configuration)
    oauth.register(configuration)
    return self
  }

  /// A user who allows everything.
  static let allow: Browser = { fixture, page in
    fixture.oauth.handleRedirect(try page.redirect("code=abc"))
  }

  /// A user who reads the page until the test sends the redirect.
  static let idle: Browser = { _, _ in }

  /// Waits until the browser has opened `count` pages and the sign-in waits for the redirect, and
  /// returns the last page's URL.
  func isWaiting(opened count: Int = 1) async throws -> AuthorizationURL {
    try await eventually { self.opened.count >= count && self.clock.sleepers > 0 }
    return try #require(opened.last)
  }
}

/// The URL that was opened in a browser, as the server reads it.
struct AuthorizationURL: Sendable {
  let url: URL
  let parameters: [String: String]

  init(_ url: URL) throws {
    self.url = url
    let items = try #require(URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems)
    parameters = Dictionary(items.map { ($0.name, $0.value ?? "") }) { "\($0), \($1)" }
  }

  var state: String { parameters["state"] ?? "" }

  /// Returns a redirect with the right state.
  func redirect(_ query: String) throws -> URL {
    try #require(URL(string: "\(parameters["redirect_uri"] ?? "")?state=\(state)&\(query)"))
  }

  /// Returns a redirect without the state.
  func forged(_ query: String) throws -> URL {
    try #require(URL(string: "\(parameters["redirect_uri"] ?? "")?\(query)"))
  }
}
