import Foundation
import LoopbackHTTP
import SequencingOAuth
import TestSupport

/// A module whose network, clock and store are a test's; each token request gets the next tokens.
final class ModuleBench: Sendable {
  let module: AuthorizationModule
  let http: ScriptedHTTPClient
  let clock = ManualClock()
  let store = StubbornStore()

  init(lifetime: Int = 3600, refreshTokens: Bool = true) throws {
    let count = Locked(0)
    http = ScriptedHTTPClient { request in
      let number = count.withLock { count in
        count += 1
        return count
      }
      let refresh = refreshTokens ? #","refresh_token":"R\#(number)""# : ""
      return try await ScriptedHTTPClient.token(
        "T\(number)", members: #""expires_in":\#(lifetime)"# + refresh)(request)
    }
    var environment = ClientEnvironment()
    environment.httpClient = http
    environment.clock = clock
    environment.tokenStore = store
    module = AuthorizationModule(
      configuration: try Self.configuration(), environment: environment)
  }

  static func configuration() throws -> ClientConfiguration {
    try ClientConfiguration(
      clientID: "client", clientSecret: "s", redirectURI: "com.example.app:/cb", scope: "demo",
      provider: .endpoints(
        authorization: "https://id.example/authorize", token: "https://id.example/token"))
  }

  /// Gets the first token, without a browser.
  @discardableResult
  func signIn() async throws -> SQToken {
    try await module.requestAccessToken(grantType: "urn:example:grant")
  }

  /// The refresh tokens that the server was sent.
  var sent: [String] { http.forms.compactMap { $0["refresh_token"] } }

  func stored() async throws -> String? {
    try await store.load(module.accountID)?.token.refreshToken
  }
}
