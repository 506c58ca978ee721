import Foundation
import OAuthSandbox
import SequencingOAuth
import Testing

/// Stored registrations of clients that begin to follow a profile of FAPI 2.0.
@Suite(.timeLimit(.minutes(2))) struct RegistrationAlgorithmTests {
  private let sandbox: SandboxServer
  private let registrar: ClientRegistrar
  private let store = MemoryRegistrationStore()
  private let app = ClientMetadata(redirectURIs: ["http://127.0.0.1/callback"])

  init() async throws {
    sandbox = try await SandboxServer.start()
    registrar = ClientRegistrar(issuer: sandbox.issuer.absoluteString)
  }

  private func methods() -> [String] {
    sandbox.requests.filter { [.registration, .clientConfiguration].contains($0.endpoint) }
      .map(\.method)
  }

  /// By default, a server signs with RS256, which FAPI 2.0 forbids.
  @Test func `a registered client that begins to follow a FAPI profile updates its algorithms`()
    async throws
  {
    let first = try await registrar.registration(of: app, in: store)
    var bank = app
    bank.profile = .fapi2
    let second = try await registrar.registration(of: bank, in: store)
    #expect(second.clientID == first.clientID)
    #expect(second.members["id_token_signed_response_alg"] == "ES256")
    #expect(try await registrar.registration(of: bank, in: store) == second)
    #expect(try await registrar.registration(of: app, in: store) == second)
    #expect(methods() == ["POST", "PUT"])
  }

  /// A new client would make the accounts of the old one unusable.
  @Test func `a client that cannot be changed is kept when it begins to follow a FAPI profile`()
    async throws
  {
    sandbox.misbehave(
      at: .registration, .members([("registration_client_uri", nil)]), times: nil)
    let first = try await registrar.registration(of: app, in: store)
    var bank = app
    bank.profile = .fapi2
    #expect(try await registrar.registration(of: bank, in: store) == first)
    #expect(methods() == ["POST"])
  }

  @Test func `a client that signs no user in does not ask how the server signs`() async throws {
    var service = app
    service.clientAuthentication = .basic
    service.grantTypes = ["client_credentials"]
    let first = try await registrar.registration(of: service, in: store)
    service.profile = .fapi2
    #expect(try await registrar.registration(of: service, in: store) == first)
    #expect(methods() == ["POST"])
  }

  @Test func `an update keeps the algorithm that the server has chosen by itself`() async throws {
    sandbox.misbehave(
      at: .metadata, .member("id_token_signing_alg_values_supported", nil), times: nil)
    sandbox.misbehave(
      at: .registration, .member("id_token_signed_response_alg", "ES256"), times: nil)
    var bank = app
    bank.profile = .fapi2
    bank.scope = "profile"
    let first = try await registrar.registration(of: bank, in: store)
    #expect(first.members["id_token_signed_response_alg"] == "ES256")
    bank.scope = "demo"
    _ = try await registrar.registration(of: bank, in: store)
    let update = try #require(sandbox.requests(to: .clientConfiguration).last)
    #expect(update.method == "PUT")
    let sent = try JSONDecoder().decode([String: JSONValue].self, from: update.body)
    #expect(sent["id_token_signed_response_alg"] == "ES256")
  }

  /// The client must not ask for the algorithm, or for a new client, at each start.
  @Test(arguments: [["RS256"], ["RS256", "ES256"]] as [SandboxJSON])
  func `a server that does not sign as a FAPI profile demands is asked only once`(
    listed: SandboxJSON
  ) async throws {
    sandbox.misbehave(
      at: .metadata, .member("id_token_signing_alg_values_supported", listed), times: nil)
    sandbox.misbehave(
      at: .clientConfiguration, .member("id_token_signed_response_alg", "RS256"), times: nil)
    let first = try await registrar.registration(of: app, in: store)
    var bank = app
    bank.profile = .fapi2
    let second = try await registrar.registration(of: bank, in: store)
    #expect(second.clientID == first.clientID)
    #expect(try await registrar.registration(of: bank, in: store) == second)
    #expect(methods() == ["POST", "PUT"])
  }
}
