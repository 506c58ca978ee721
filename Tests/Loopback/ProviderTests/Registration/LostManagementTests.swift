import Foundation
import OAuthSandbox
import SequencingOAuth
import Testing

@testable import TestSupport

/// Stored registrations whose management token is invalid although their clients work.
///
/// - SeeAlso: RFC 7592, sections 2.1 and 3
@Suite(.timeLimit(.minutes(2))) struct LostManagementTests {
  private let sandbox: SandboxServer
  private let registrar: ClientRegistrar
  private let store = MemoryRegistrationStore()
  private let app = ClientMetadata(
    redirectURIs: ["com.example.app:/callback"], clientName: "An app")

  init() async throws {
    sandbox = try await SandboxServer.start()
    registrar = ClientRegistrar(issuer: sandbox.issuer.absoluteString)
  }

  private func methods() -> [String] {
    sandbox.requests.filter { [.registration, .clientConfiguration].contains($0.endpoint) }
      .map(\.method)
  }

  private func kept() -> ClientRegistration? {
    store.registration(at: sandbox.issuer.absoluteString)
  }

  private func registration(
    of metadata: ClientMetadata? = nil
  ) async throws -> ClientRegistration {
    var options = RegistrationOptions()
    options.verifies = true
    return try await registrar.registration(of: metadata ?? app, in: store, options)
  }

  private func losesManagement() {
    sandbox.misbehave(at: .clientConfiguration, .error("invalid_token", status: 401), times: nil)
  }

  /// The answer with the next management token may have been lost.
  @Test(arguments: [nil, .basic, .privateKeyJWT] as [ClientAuthentication?])
  func `a client that the token endpoint knows is kept without its management`(
    authentication: ClientAuthentication?
  ) async throws {
    var metadata = app
    metadata.clientAuthentication = authentication
    if authentication == .privateKeyJWT { metadata.keys = [try ClientKey(generating: .es256)] }
    let first = try await registration(of: metadata)
    losesManagement()
    let second = try await registration(of: metadata)
    #expect(second.clientID == first.clientID && second.clientSecret == first.clientSecret)
    #expect(!second.isManageable && kept() == second)
    // Without its management, the client is not asked for any more.
    #expect(try await registration(of: metadata) == second)
    #expect(methods() == ["POST", "GET"])
    // A public client is compared with a random client.
    let isPublic = second.clientAuthentication == .publicClient
    #expect(sandbox.requests(to: .token).count == (isPublic ? 2 : 1))
  }

  @Test(arguments: ["invalid_client", "unauthorized_client", "temporarily_unavailable"])
  func `a client that the token endpoint does not confirm registers again`(code: String)
    async throws
  {
    let first = try await registration()
    losesManagement()
    sandbox.misbehave(at: .token, .error(code), times: nil)
    let second = try await registration()
    #expect(second.clientID != first.clientID && kept() == second)
    #expect(methods() == ["POST", "GET", "POST"])
  }

  /// A server may look up the code of a public client first.
  @Test func `a public client registers again if the server refuses any client's code`()
    async throws
  {
    var metadata = app
    metadata.clientAuthentication = .publicClient
    let first = try await registration(of: metadata)
    losesManagement()
    sandbox.misbehave(at: .token, .error("invalid_grant"), times: nil)
    let second = try await registration(of: metadata)
    #expect(second.clientID != first.clientID && kept() == second)
    #expect(sandbox.requests(to: .token).count == 1)
  }

  @Test func `a registration that another host stores during the check stays`() async throws {
    _ = try await registration()
    let other = try await registrar.register(app)
    sandbox.misbehave(at: .clientConfiguration, .error("invalid_token", status: 401))
    sandbox.misbehave(at: .token, .hold(until: { [store] in store.save(other) }))
    #expect(try await registration().clientID == other.clientID)
    #expect(kept()?.clientID == other.clientID && kept()?.isManageable == true)
  }

  /// With each question, an answer with the next token could be lost.
  @Test func `a registration whose management token the server replaces is not read again`()
    async throws
  {
    let first = try await registration()
    sandbox.misbehave(
      at: .clientConfiguration, .member("registration_access_token", "replaced"))
    let second = try await registration()
    #expect(second.clientID == first.clientID && second != first)
    #expect(try await registration() == second && kept() == second)
    #expect(methods() == ["POST", "GET"])
    // Only a change of the client is worth the risk.
    var changed = app
    changed.redirectURIs = ["com.example.app:/other"]
    sandbox.misbehave(at: .clientConfiguration, .status(503))
    await failure(.temporarilyUnavailable) { [changed] in
      try await registration(of: changed)
    }
    #expect(sandbox.requests.last?.header("authorization") == "Bearer replaced")
  }
}
