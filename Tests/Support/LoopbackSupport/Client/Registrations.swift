import Foundation
import OAuthSandbox
package import SequencingOAuth

/// Creates registrations at real servers.
package enum Registrations {
  private static let metadata = ClientMetadata(
    redirectURIs: ["http://127.0.0.1/callback"], clientAuthentication: .basic)

  package static func atOneServer(_ count: Int) async throws -> [ClientRegistration] {
    let sandbox = try await SandboxServer.start()
    let registrations = try await register(count, at: sandbox)
    await sandbox.stop()
    return registrations
  }

  /// Creates registrations at servers with different ports.
  package static func atServersOfTheirOwn(_ count: Int) async throws -> [ClientRegistration] {
    // A server that starts after another one has stopped may get the same port.
    var sandboxes: [SandboxServer] = []
    for _ in 0..<count { sandboxes.append(try await SandboxServer.start()) }
    var registrations: [ClientRegistration] = []
    for sandbox in sandboxes { registrations += try await register(1, at: sandbox) }
    for sandbox in sandboxes { await sandbox.stop() }
    return registrations
  }

  private static func register(
    _ count: Int, at sandbox: SandboxServer
  ) async throws -> [ClientRegistration] {
    let registrar = ClientRegistrar(issuer: sandbox.issuer.absoluteString)
    var registrations: [ClientRegistration] = []
    for _ in 0..<count { registrations.append(try await registrar.register(metadata)) }
    return registrations
  }
}
