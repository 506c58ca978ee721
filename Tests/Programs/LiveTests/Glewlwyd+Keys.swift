import Foundation
import ProgramSupport
import SequencingOAuth
import TestSupport

/// The client `keyed`, at a server that demands pushed requests.
extension Glewlwyd {
  /// Runs `body` with a server that knows a client's key.
  ///
  /// Further settings are environment variables of the server's script.
  static func running<Result: Sendable>(
    knowing key: ClientKey, settings: [String: String] = [:],
    _ body: (Glewlwyd) async throws -> Result
  ) async throws -> Result {
    let keys = JSONValue.object(["keys": .array([key.publicJWK ?? .null])])
    let own = [
      "PAR_REQUIRED": "1",
      "CLIENT_KEYS": String(decoding: try JSONEncoder().encode(keys), as: UTF8.self),
    ]
    return try await running(settings: own.merging(settings) { $1 }, body)
  }

  /// Returns a configuration of the client that binds tokens to a key of the account.
  ///
  /// This server wants the address of the requested endpoint as the audience of an assertion.
  func keyedClient(
    _ key: ClientKey, audience: AssertionAudience = .requestedEndpoint
  ) throws -> ClientConfiguration {
    var provider = Provider.issuer(issuer)
    provider.assertionAudience = audience
    var configuration = try ClientConfiguration(
      clientID: Client.keyed.rawValue, clientKey: key, redirectURI: try takeRedirectURI(),
      scope: Self.keyedScope.joined(separator: " "), provider: provider)
    configuration.tokenBinding = .dpop()
    return configuration
  }

  static let keyedScope = ["openid", "profile", "read"]
}
