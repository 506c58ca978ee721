import Foundation
import OAuthSandbox
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// A client whose tokens are bound to a key, at a sandbox that demands proofs with its nonces.
///
/// The client and the sandbox share a manual clock. No timer refreshes tokens.
struct BoundFixture {
  static let clientID = "bound-client"

  /// The ways in which the client authenticates.
  enum Kind: Sendable, CaseIterable { case `public`, secret, key }

  let fixture: SandboxFixture
  let store = MemoryTokenStore()
  /// The key that authenticates the client, if it has one.
  let clientKey: ClientKey?
  let scope: String

  var sandbox: SandboxServer { fixture.sandbox }
  var oauth: SQOAuth { fixture.oauth }
  var module: AuthorizationModule { fixture.oauth.module }
  var clock: ManualClock { fixture.clock }

  /// Settings of a sandbox whose authorization server and API each demand their own nonces.
  ///
  /// Both servers change their nonces every minute.
  static var strict: SandboxOptions {
    var options = SandboxOptions()
    options.dpop = SandboxDPoPOptions(.required)
    options.dpop.noncesRequiredBy = [.authorizationServer, .api]
    options.dpop.apiHasOwnNonces = true
    options.dpop.nonceLifetime = .seconds(60)
    return options
  }

  init(
    _ kind: Kind = .public, _ options: SandboxOptions = strict, scope: String = "files demo",
    changeClient: (inout SandboxClient) -> Void = { _ in },
    change: (inout ClientConfiguration) -> Void = { _ in }
  ) async throws {
    clientKey = kind == .key ? try ClientKey(generating: .es256) : nil
    self.scope = scope
    var client = try Self.client(kind, clientKey)
    changeClient(&client)
    var options = options
    options.clients = [client]
    fixture = try await SandboxFixture(options, sharesClock: true)
    fixture.oauth.environment.tokenStore = store
    var configuration = try ClientConfiguration(
      clientID: Self.clientID, clientSecret: client.secret, clientKey: clientKey,
      redirectURI: "http://127.0.0.1/callback", scope: scope,
      provider: .issuer(fixture.sandbox.issuer.absoluteString))
    configuration.tokenBinding = .dpop()
    change(&configuration)
    fixture.oauth.register(configuration)
    fixture.oauth.refreshesAutomatically = false
  }

  private static func client(_ kind: Kind, _ key: ClientKey?) throws -> SandboxClient {
    guard let key else {
      return SandboxClient(id: clientID, secret: kind == .secret ? "a-secret" : nil)
    }
    let text = String(decoding: try JSONEncoder().encode(key.publicJWK), as: UTF8.self)
    return SandboxClient(id: clientID, key: try #require(SandboxJSON(parsing: text)))
  }

  @discardableResult
  func signedIn() async throws -> Self {
    try await oauth.signIn()
    return self
  }

  func send(_ endpoint: SandboxEndpoint = .me) async throws -> WebResponse {
    try await module.send(WebRequest(url: sandbox.url(endpoint)))
  }

  /// Moves the clock so far that both servers have new nonces and accept no old one.
  func outdateNonces() { clock.advance(by: 180) }

  /// Returns the nonces of the proofs at an endpoint in order; `nil` for a request without a nonce.
  func nonces(at endpoint: SandboxEndpoint) -> [String?] {
    sandbox.requests(to: endpoint).map { $0.proof?.nonce }
  }

  /// Returns the number of requests to an endpoint while a body runs.
  func count(
    _ endpoint: SandboxEndpoint, during body: () async throws -> Void
  ) async rethrows -> Int {
    let before = sandbox.requests(to: endpoint).count
    try await body()
    return sandbox.requests(to: endpoint).count - before
  }

  /// The account's record in the store.
  var record: AccountRecord? { get async { await store.load("default") } }

  /// Expects that a strict server would accept all proofs so far.
  func audit(sourceLocation: SourceLocation = #_sourceLocation) throws {
    try ProofAudit(sandbox).expectNothing(sourceLocation: sourceLocation)
  }
}
