import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// A client with a key, at a sandbox that demands the rules of a security profile.
struct ProfileFixture {
  static let id = "bank-app"

  let base: SandboxFixture
  let key: ClientKey
  private(set) var configuration: ClientConfiguration

  var oauth: SQOAuth { base.oauth }
  var sandbox: SandboxServer { base.sandbox }
  var tokenRequests: [SandboxRequest] { base.tokenRequests }

  init(
    _ profile: SandboxSecurityProfile? = nil, redirectURI: String = "com.example.sandbox:/callback",
    change: (inout SandboxOptions, inout SandboxClient) -> Void = { _, _ in }
  ) async throws {
    key = try MadeKeys.key(for: .es256)
    var options = profile.map { SandboxOptions($0) } ?? SandboxOptions()
    var client = SandboxClient(id: Self.id, key: try KeyedClientFixture.json(key))
    client.redirectURIs = [redirectURI]
    client.idTokenAlgorithm = .es256
    change(&options, &client)
    options.clients = [client]
    base = try await SandboxFixture(options, sharesClock: true)
    configuration = try ClientConfiguration(
      clientID: Self.id, clientKey: key, redirectURI: redirectURI,
      scope: "openid profile demo offline_access",
      provider: .issuer(base.sandbox.issuer.absoluteString))
  }

  /// Registers the client with changes to its configuration.
  mutating func register(_ change: (inout ClientConfiguration) -> Void) {
    change(&configuration)
    oauth.register(configuration)
    oauth.refreshesAutomatically = false
  }

  func callAPI() async throws -> WebResponse {
    try await oauth.send(WebRequest(url: sandbox.url(.me)))
  }
}
