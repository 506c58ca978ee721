import Foundation
import OAuthSandbox
import SequencingOAuth
import Testing

@testable import TestSupport

/// A web application that runs on several hosts, its provider (a sandbox), and its users' browsers.
struct WebFixture {
  static let redirectURI = "https://app.example.com/callback"

  let sandbox: SandboxServer
  let configuration: ClientConfiguration
  let clock: ManualClock
  let store = MemoryTokenStore()
  let oneTimeValues = MemoryOneTimeValues()

  init(
    scope: String? = "openid demo", change: (inout ClientConfiguration) -> Void = { _ in },
    changeSandbox: (inout SandboxOptions) -> Void = { _ in }
  ) async throws {
    let clock = ManualClock(now: Date())
    self.clock = clock
    var options = SandboxOptions()
    options.clients = [
      SandboxClient(id: "web", secret: "web-secret", redirectURIs: [Self.redirectURI])
    ]
    options.now = { clock.now }
    changeSandbox(&options)
    sandbox = try await SandboxServer.start(options)
    var configuration = try ClientConfiguration(
      clientID: "web", clientSecret: "web-secret", redirectURI: Self.redirectURI, scope: scope,
      provider: .issuer(sandbox.issuer.absoluteString))
    change(&configuration)
    self.configuration = configuration
  }

  /// Creates one host of the application.
  ///
  /// All hosts share the store and the one-time values.
  func host(_ store: (any TokenStore)? = nil) -> AccountManager {
    AccountManager(
      store: store ?? self.store, environment: environment(oneTimeValues: oneTimeValues))
  }

  /// Creates the environment of one host.
  func environment(oneTimeValues: any OneTimeValues) -> ClientEnvironment {
    var environment = ClientEnvironment()
    environment.clock = clock
    environment.oneTimeValues = oneTimeValues
    return environment
  }

  /// Visits the sign-in page as a user's browser does, and returns the redirect.
  func visit(
    _ url: URL, as user: SandboxUser = .alice, _ decision: SandboxVisitor.Decision = .allow
  ) async throws -> String {
    try await SandboxVisitor(user: user, decision: decision).visit(url).redirect
  }

  var tokenRequests: Int { sandbox.requests(to: .token).count }
}
