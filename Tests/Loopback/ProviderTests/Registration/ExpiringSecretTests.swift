import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// Stored registrations whose secrets expire.
@Suite(.timeLimit(.minutes(2))) struct ExpiringSecretTests {
  private let sandbox: SandboxServer
  private let registrar: ClientRegistrar
  private let clock = ManualClock(now: Date())
  private let store = MemoryRegistrationStore()
  private let service = ClientMetadata(
    redirectURIs: ["https://app.example.com/callback"], clientAuthentication: .basic,
    grantTypes: ["authorization_code", "client_credentials"], scope: "demo")
  /// When the first secret expires, in seconds since 1970.
  private let end: Int

  init() async throws {
    sandbox = try await SandboxServer.start()
    var environment = ClientEnvironment()
    environment.clock = clock
    registrar = ClientRegistrar(
      issuer: sandbox.issuer.absoluteString, environment: environment)
    end = Int(clock.now.timeIntervalSince1970) + 86_400
    sandbox.misbehave(at: .registration, .member("client_secret_expires_at", .integer(end)))
  }

  private func methods() -> [String] {
    sandbox.requests.filter { [.registration, .clientConfiguration].contains($0.endpoint) }
      .map(\.method)
  }

  private func registration() async throws -> ClientRegistration {
    try await registrar.registration(of: service, in: store)
  }

  @Test func `a client reads its registration an hour before its secret expires`() async throws {
    let first = try await registration()
    #expect(first.clientSecretExpirationDate == Date(timeIntervalSince1970: Double(end)))
    clock.advance(by: 86_400 - 3601)
    #expect(try await registration() == first)
    clock.advance(by: 2)
    sandbox.misbehave(at: .clientConfiguration, .member("client_secret", "another-secret"))
    let second = try await registration()
    #expect(second.clientID == first.clientID && second.clientSecret == "another-secret")
    #expect(second.clientSecretExpirationDate == nil)
    #expect(methods() == ["POST", "GET"])
    #expect(try await registration() == second)
  }

  @Test func `a client updates its registration if reading returns no new secret`()
    async throws
  {
    let first = try await registration()
    clock.advance(by: 86_400 - 1800)
    sandbox.misbehave(at: .clientConfiguration, .member("client_secret_expires_at", nil))
    // The new secret lasts less than an hour, but longer than the old one.
    sandbox.misbehave(
      at: .clientConfiguration, .member("client_secret_expires_at", .integer(end + 60)))
    let second = try await registration()
    #expect(second.clientID == first.clientID && methods() == ["POST", "GET", "PUT"])
    #expect(second.clientSecretExpirationDate == Date(timeIntervalSince1970: Double(end + 60)))
  }

  @Test func `a client registers again if the server does not renew its secret`() async throws {
    let first = try await registration()
    clock.advance(by: 86_400 - 1800)
    sandbox.misbehave(
      at: .clientConfiguration, .member("client_secret_expires_at", .integer(end)), times: nil)
    let second = try await registration()
    #expect(second.clientID != first.clientID)
    // The client is not deleted, because other hosts may still use it.
    #expect(methods() == ["POST", "GET", "PUT", "POST"])
    #expect(try await registration() == second)
  }

  @Test func `an expired client is deleted after a new registration`() async throws {
    let first = try await registration()
    clock.advance(by: 86_400 + 60)
    sandbox.misbehave(
      at: .clientConfiguration, .member("client_secret_expires_at", .integer(end)), times: 2)
    let second = try await registration()
    #expect(second.clientID != first.clientID)
    #expect(methods() == ["POST", "GET", "PUT", "POST", "DELETE"])
  }

  @Test(arguments: [SandboxMisbehaviour.status(500), .cut(.beforeProcessing), .html])
  func `while the server fails, a secret is used until it expires`(
    trouble: SandboxMisbehaviour
  ) async throws {
    let first = try await registration()
    clock.advance(by: 86_400 - 1800)
    sandbox.misbehave(at: .clientConfiguration, trouble, times: nil)
    #expect(try await registration() == first)
    clock.advance(by: 1801)
    await failure { try await registration() }
    #expect(!methods().dropFirst().contains("POST"))
    sandbox.behave(at: .clientConfiguration)
    #expect(try await registration().clientID == first.clientID)
  }

  @Test
  func `a client that cannot read its registration keeps its secret until it can register again`()
    async throws
  {
    sandbox.behave(at: .registration)
    sandbox.misbehave(
      at: .registration,
      .members([
        ("client_secret_expires_at", .integer(end)), ("registration_access_token", nil),
      ]))
    let first = try await registration()
    #expect(!first.isManageable)
    clock.advance(by: 86_400 - 1800)
    sandbox.misbehave(at: .registration, .status(500))
    #expect(try await registration() == first)
    #expect(try await registration().clientID != first.clientID)
    #expect(methods() == ["POST", "POST", "POST"])
  }

  @Test func `redirect URIs that the server changed are changed back`() async throws {
    let first = try await registration()
    clock.advance(by: 86_400 - 1800)
    sandbox.misbehave(at: .clientConfiguration, .member("redirect_uris", ["https://x.example/"]))
    let second = try await registration()
    #expect(second.clientID == first.clientID && second.redirectURIs == service.redirectURIs)
    #expect(methods() == ["POST", "GET", "PUT"])
  }

  @Test func `the client keeps registered values that an answer omits`() async throws {
    let first = try await registration()
    let names = [
      "client_secret", "client_secret_expires_at", "token_endpoint_auth_method", "redirect_uris",
      "scope", "registration_access_token",
    ]
    sandbox.misbehave(at: .clientConfiguration, .members(names.map { ($0, nil) }))
    let read = try await registrar.read(first)
    #expect(read.clientSecret == first.clientSecret && read.isManageable)
    #expect(read.clientSecretExpirationDate == first.clientSecretExpirationDate)
    #expect(read.clientAuthentication == .basic && read.scope == "demo")
    #expect(read.redirectURIs == service.redirectURIs)
    // A repeated secret without an expiry keeps the old expiry. A new secret has its own expiry, or
    // none.
    sandbox.misbehave(at: .clientConfiguration, .member("client_secret_expires_at", nil))
    #expect(
      try await registrar.read(first).clientSecretExpirationDate
        == first.clientSecretExpirationDate)
    sandbox.misbehave(
      at: .clientConfiguration,
      .members([("client_secret", "another"), ("client_secret_expires_at", nil)]))
    #expect(try await registrar.read(first).clientSecretExpirationDate == nil)
  }
}
