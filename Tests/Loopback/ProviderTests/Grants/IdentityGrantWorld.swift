import Foundation
import OAuthSandbox
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// An identity provider, and an authorization server that trusts it.
struct IdentityGrantWorld {
  static let resource = "https://chat.example/mcp"

  let provider: SandboxServer
  let chat: SandboxServer
  let clock: ManualClock
  let user: AuthorizationModule
  let store = MemoryTokenStore()

  init(
    scope: String = "openid offline_access", change: (inout SandboxOptions) -> Void = { _ in }
  ) async throws {
    let clock = ManualClock(now: Date())
    self.clock = clock
    var options = SandboxOptions()
    options.now = { clock.now }
    options.openID.idTokenLifetime = .seconds(20_000)
    var chatOptions = options
    change(&options)
    var wiki = SandboxClient(id: "wiki", secret: "wiki-secret")
    let wikiAtChat = SandboxClient(id: "wiki-at-chat", secret: "chat-secret")
    chatOptions.clients.append(wikiAtChat)
    let first = try await SandboxServer.start(options)
    chatOptions.trustedIssuers = [first.trustedIssuer]
    chat = try await SandboxServer.start(chatOptions)
    wiki.identifiers = [chat.issuer.absoluteString: wikiAtChat.id]
    first.register(wiki)
    provider = first
    var environment = ClientEnvironment()
    environment.clock = clock
    environment.userAgent = CustomUserAgent { _ = try await SandboxVisitor().visit($0) }
    user = AuthorizationModule(
      configuration: try ClientConfiguration(
        clientID: wiki.id, clientSecret: wiki.secret, redirectURI: "http://127.0.0.1/callback",
        scope: scope, provider: .issuer(first.issuer.absoluteString)), environment: environment)
    user.environment.tokenStore = MemoryTokenStore()
    try await user.signIn()
    first.forgetRequests()
  }

  /// Signs another user in to the account at the identity provider.
  func signIn(_ other: SandboxUser) async throws {
    user.environment.userAgent = CustomUserAgent {
      _ = try await SandboxVisitor(user: other).visit($0)
    }
    try await user.signIn()
  }

  /// Returns the account at the other server, as a new process would make it.
  func account(_ subject: TokenType = .idToken) throws -> AuthorizationModule {
    var configuration = try ClientConfiguration(
      clientID: "wiki-at-chat", clientSecret: "chat-secret",
      provider: .issuer(chat.issuer.absoluteString))
    configuration.grantAssertionSource = .identityProvider(
      user, resource: Self.resource, subject: subject)
    var environment = ClientEnvironment()
    environment.clock = clock
    environment.tokenStore = store
    return AuthorizationModule(configuration: configuration, environment: environment)
  }

  var exchanges: [SandboxRequest] {
    provider.requests(to: .token).filter { $0.form("subject_token") != nil }
  }
  var grants: [SandboxRequest] { chat.requests(to: .token) }
}
