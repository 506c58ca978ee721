import Foundation
import OAuthSandbox
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// A client with a signing key, at a sandbox that knows the public key.
struct KeyedClientFixture {
  static let id = "keyed-service"

  let sandbox: SandboxServer
  let clock: ManualClock
  let key: ClientKey
  var environment: ClientEnvironment

  init(
    _ algorithm: JWSAlgorithm = .es256, change: (inout SandboxOptions) -> Void = { _ in }
  ) async throws {
    let clock = ManualClock(now: Date())
    self.clock = clock
    key = try MadeKeys.key(for: algorithm)
    var options = SandboxOptions()
    options.now = { clock.now }
    options.clients.append(SandboxClient(id: Self.id, key: try Self.json(key)))
    change(&options)
    sandbox = try await SandboxServer.start(options)
    environment = ClientEnvironment()
    environment.clock = clock
    environment.userAgent = CustomUserAgent { _ = try await SandboxVisitor().visit($0) }
  }

  /// Returns the public key in the sandbox's JSON form.
  static func json(_ key: ClientKey) throws -> SandboxJSON {
    let text = String(decoding: try JSONEncoder().encode(key.publicJWK), as: UTF8.self)
    return try #require(SandboxJSON(parsing: text))
  }

  var provider: Provider { .issuer(sandbox.issuer.absoluteString) }

  func configuration(
    _ key: ClientKey? = nil, scope: String? = "demo", redirectURI: String? = nil,
    provider: Provider? = nil, authentication: ClientAuthentication? = nil
  ) throws -> ClientConfiguration {
    try ClientConfiguration(
      clientID: Self.id, clientKey: key ?? self.key, redirectURI: redirectURI, scope: scope,
      provider: provider ?? self.provider, clientAuthentication: authentication)
  }

  func account(_ configuration: ClientConfiguration? = nil) throws -> AuthorizationModule {
    AuthorizationModule(
      configuration: try configuration ?? self.configuration(), environment: environment)
  }

  /// Returns the claims of the assertion in a request's parameter.
  func claims(
    of parameter: String = "client_assertion", in request: SandboxRequest
  ) throws -> [String: JSONValue] {
    try CompactJWS(try #require(request.form(parameter))).claims()
  }

  /// Returns the requests that have a signed assertion.
  func signed(_ parameter: String = "client_assertion") -> [SandboxRequest] {
    sandbox.requests.filter { $0.form(parameter) != nil }
  }

  /// Returns the latest request to the token endpoint.
  func last() throws -> SandboxRequest { try #require(sandbox.requests(to: .token).last) }
}
