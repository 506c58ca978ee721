import Foundation
import OAuthSandbox
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// A client that signs, at a sandbox that knows its public key.
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

  /// The public half, as the sandbox takes it.
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

  /// The claims of what the client signed, by the name of its parameter.
  func claims(
    of parameter: String = "client_assertion", in request: SandboxRequest
  ) throws -> [String: JSONValue] {
    try CompactJWS(try #require(request.form(parameter))).claims()
  }

  /// The requests in which the client has signed something.
  func signed(_ parameter: String = "client_assertion") -> [SandboxRequest] {
    sandbox.requests.filter { $0.form(parameter) != nil }
  }

  /// The latest request to the token endpoint.
  func last() throws -> SandboxRequest { try #require(sandbox.requests(to: .token).last) }
}
