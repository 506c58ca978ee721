import Foundation
import OAuthSandbox
package import SequencingOAuth

/// Creates registrations at real servers.
package enum Registrations {
  private static let metadata = ClientMetadata(
    redirectURIs: ["http://127.0.0.1/callback"], clientAuthentication: .basic)

  package static func atOneServer(_ count: Int) async throws -> [ClientRegistration] {
    let sandbox = try await SandboxServer.start()
    let registrar = ClientRegistrar(issuer: sandbox.issuer.absoluteString)
    var registrations: [ClientRegistration] = []
    for _ in 0..<count { registrations.append(try await registrar.register(metadata)) }
    await sandbox.stop()
    return registrations
  }

  package static func atServersOfTheirOwn(_ count: Int) async throws -> [ClientRegistration] {
    var registrations: [ClientRegistration] = []
    for _ in 0..<count { registrations += try await atOneServer(1) }
    return registrations
  }
}
