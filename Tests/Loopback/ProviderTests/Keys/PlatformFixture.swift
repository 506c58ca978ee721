import Foundation
import OAuthSandbox
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// A workload on a platform, such as Kubernetes, that the sandbox trusts.
struct PlatformFixture {
  static let id = "orders"
  static let issuer = "https://kubernetes.example"
  static let workload = "system:serviceaccount:shop:orders"

  let sandbox: SandboxServer
  let clock: ManualClock
  let platform: ClientKey
  var environment: ClientEnvironment
  /// The requests to the platform.
  let asked = Asked()

  /// A record of the requests to the platform, and a switch that makes the requests fail.
  final class Asked: Sendable {
    private let state = Locked<(audiences: [String], isBroken: Bool)>(([], false))

    /// The audience of each token that a client requested from the platform, in order.
    var audiences: [String] { state.withLock(\.audiences) }

    /// Makes the platform fail from now on, or work again.
    func fail(_ isBroken: Bool = true) { state.withLock { $0.isBroken = isBroken } }

    func note(_ audience: String) throws {
      try state.withLock { state in
        state.audiences.append(audience)
        if state.isBroken { throw CancellationError() }
      }
    }
  }

  init(change: (inout SandboxOptions) -> Void = { _ in }) async throws {
    let clock = ManualClock(now: Date())
    self.clock = clock
    platform = try MadeKeys.key(for: .rs256)
    var client = SandboxClient(id: Self.id)
    client.authentication = [.privateKeyJWT, .none]
    var options = SandboxOptions()
    options.now = { clock.now }
    options.clients.append(client)
    options.trustedIssuers = [
      SandboxTrustedIssuer(
        issuer: Self.issuer, keys: [try KeyedClientFixture.json(platform)],
        workloads: [Self.workload: Self.id])
    ]
    change(&options)
    sandbox = try await SandboxServer.start(options)
    environment = ClientEnvironment()
    environment.clock = clock
    environment.userAgent = CustomUserAgent { _ = try await SandboxVisitor().visit($0) }
  }

  var provider: Provider { .issuer(sandbox.issuer.absoluteString) }

  /// Returns a new token of the platform, like those of Kubernetes.
  func token(for audience: String, workload: String = workload) async throws -> String {
    let now = Int64(clock.now.timeIntervalSince1970)
    return try await platform.sign([
      "iss": .string(Self.issuer), "sub": .string(workload), "aud": .array([.string(audience)]),
      "iat": .integer(now), "exp": .integer(now + 600), "jti": .string(UUID().uuidString),
    ])
  }

  /// A source that requests a new token from the platform each time.
  var source: AssertionSource {
    AssertionSource { [self] audience in
      try asked.note(audience)
      return try await token(for: audience)
    }
  }

  func account(_ configuration: ClientConfiguration) -> AuthorizationModule {
    AuthorizationModule(configuration: configuration, environment: environment)
  }

  /// Returns a client that authenticates with its platform's assertions.
  func authenticated(
    by source: AssertionSource? = nil, redirectURI: String? = nil, scope: String? = "demo",
    change: (inout ClientConfiguration) -> Void = { _ in }
  ) throws -> AuthorizationModule {
    var configuration = try ClientConfiguration(
      clientID: Self.id, clientAssertionSource: source ?? self.source, redirectURI: redirectURI,
      scope: scope, provider: provider)
    change(&configuration)
    return account(configuration)
  }

  /// Returns a public client that exchanges its platform's assertions for tokens.
  func exchanging(_ source: AssertionSource?) throws -> AuthorizationModule {
    var configuration = try ClientConfiguration(clientID: Self.id, provider: provider)
    configuration.grantAssertionSource = source
    return account(configuration)
  }

  /// Returns the requests that have an assertion in this parameter.
  func requests(with parameter: String) -> [SandboxRequest] {
    sandbox.requests.filter { $0.form(parameter) != nil }
  }
}
