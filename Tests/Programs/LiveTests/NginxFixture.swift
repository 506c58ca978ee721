import Foundation
import LoopbackSupport
import OAuthSandbox
import ProgramSupport
import SequencingOAuth
import SequencingOAuthPipes
import TestSupport
import Testing

/// An app that is signed in at a sandbox, and an nginx that validates tokens at the sandbox.
struct NginxFixture: Sendable {
  let sandbox: SandboxServer
  let nginx: Nginx
  let module: AuthorizationModule
  /// An HTTP client that trusts the server's private authority.
  let client: CurlTransport
  /// The app's clock.
  let clock = ManualClock(now: Date())

  /// Runs `body` with both servers, and a module whose user signs in and allows everything.
  ///
  /// With `isSignedIn`, the user is signed in before `body` runs.
  static func running(
    asking endpoint: SandboxEndpoint = .me, scope: String = "files",
    requestsPerConnection: Int = 1_000_000, isSignedIn: Bool = true,
    _ body: (NginxFixture) async throws -> Void
  ) async throws {
    // No other server gets the sandbox's port after a test has stopped the sandbox.
    let reservation = try BoundSocket()
    var options = SandboxOptions()
    options.port = reservation.port
    let sandbox = try await SandboxServer.start(options)
    try await Nginx.running(
      sandbox: sandbox, asking: endpoint, requestsPerConnection: requestsPerConnection
    ) { nginx in
      let fixture = try NginxFixture(sandbox: sandbox, nginx: nginx, scope: scope)
      if isSignedIn {
        try await fixture.module.signIn()
        sandbox.forgetRequests()
      }
      try await body(fixture)
    }
    await sandbox.stop()
    withExtendedLifetime(reservation) {}
  }

  private init(sandbox: SandboxServer, nginx: Nginx, scope: String) throws {
    self.sandbox = sandbox
    self.nginx = nginx
    var configuration = HTTPTransportConfiguration()
    configuration.additionalAuthorities = try nginx.authority
    client = CurlTransport(configuration: configuration)
    let visitor = SandboxVisitor()
    var environment = ClientEnvironment()
    environment.transport = client
    environment.clock = clock
    environment.userAgent = CustomUserAgent { url in _ = try await visitor.visit(url) }
    module = AuthorizationModule(
      configuration: try ClientConfiguration(
        clientID: SandboxClient.app.id, redirectURI: "http://127.0.0.1/callback", scope: scope,
        provider: .issuer(sandbox.issuer.absoluteString)),
      environment: environment)
  }

  /// The HTTP version for requests to nginx.
  enum Way: String, Codable, CaseIterable, Sendable { case http1, http2 }

  /// Returns a request for a path.
  func request(
    _ method: String, _ path: String, _ way: Way = .http1, body: WebRequestBody = .empty
  ) throws -> WebRequest {
    let base = way == .http1 ? nginx.url : nginx.secureURL
    let url = try #require(URL(string: base.absoluteString + path))
    var request = WebRequest(method: method, url: url, body: body)
    request.maximumResponseBytes = 1 << 30
    return request
  }

  /// Returns a pipe whose records nginx stores in the folder of the same name.
  func pipe(
    _ name: String, _ way: Way = .http1, timeout: Duration = .seconds(60)
  ) throws -> Pipeline.Pipe {
    var configuration = PipeConfiguration()
    configuration.timeout = timeout
    let base = way == .http1 ? nginx.url : nginx.secureURL
    return try Pipeline(baseURL: base, module: module).add(name, configuration)
  }

  /// Sends a request that must fail with an error of the SDK.
  func failure(
    _ request: WebRequest, sourceLocation: SourceLocation = #_sourceLocation
  ) async -> SQOAuthError? {
    await #expect(throws: SQOAuthError.self, sourceLocation: sourceLocation) {
      try await module.send(request)
    }
  }

  /// Returns the lines of nginx's log in short form.
  func log() async throws -> [String] { try await nginx.requests().map(\.description) }

  /// The token requests since `body` began.
  var refreshes: [SandboxRequest] { sandbox.requests(to: .token) }

  /// Revokes the access token at the sandbox, as the user could.
  func revokeAccessToken() async throws {
    let token = try #require(module.currentToken?.accessToken)
    var request = WebRequest(method: "POST", url: sandbox.revocationEndpoint)
    request.headers["Content-Type"] = "application/x-www-form-urlencoded"
    request.body = .bytes(Data("client_id=\(SandboxClient.app.id)&token=\(token)".utf8))
    #expect(try await client.send(request).status == 200)
    #expect(!sandbox.isActive(token))
  }

  /// Creates a file that nginx serves.
  func write(_ content: Data, _ path: String) throws {
    try content.write(to: nginx.file(path))
  }
}
