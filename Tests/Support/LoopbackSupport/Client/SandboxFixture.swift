import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// An `SQOAuth` with the real transport and receiver, a sandbox, and a simulated user.
final class SandboxFixture: Sendable {
  let oauth = SQOAuth()
  let sandbox: SandboxServer
  let delegate = RecordingDelegate()
  let clock = ManualClock(now: Date())
  private let visits = Locked<[SandboxVisitor.Visit]>([])
  /// Becomes true when the first visit is over and the app has the redirect.
  private let hasAnswer = Locked(false)

  /// The finished visits, in the order in which their answers were read.
  var visited: [SandboxVisitor.Visit] { visits.withLock(\.self) }

  /// Starts a sandbox; with `sharesClock`, its clock is the client's.
  init(
    _ options: SandboxOptions = SandboxOptions(), decision: SandboxVisitor.Decision = .allow,
    user: SandboxUser = .alice, sharesClock: Bool = false
  ) async throws {
    var options = options
    if sharesClock { options.now = { [clock] in clock.now } }
    sandbox = try await SandboxServer.start(options)
    var environment = ClientEnvironment()
    environment.clock = clock
    let visitor = SandboxVisitor(user: user, decision: decision)
    environment.userAgent = CustomUserAgent { [weak self] url, signIn in
      let visit = try await visitor.visit(url)
      self?.visits.withLock { $0.append(visit) }
      // The SDK's receiver gets a loopback redirect itself, so only other redirects are passed on.
      if !visit.redirect.hasPrefix("http:") { signIn.handleRedirect(visit.redirect) }
      self?.hasAnswer.withLock { $0 = true }
    }
    oauth.environment = environment
    oauth.authorizationDelegate = delegate
  }

  /// Registers a client of the sandbox; discovery finds the endpoints unless `byHand` is `true`.
  @discardableResult
  func register(
    clientID: String = "sandbox-app", secret: String? = nil,
    redirectURI: String = "http://127.0.0.1/callback", scope: String? = "demo",
    authentication: ClientAuthentication? = nil, byHand: Bool = false, knowsIssuer: Bool = true,
    change: (inout ClientConfiguration) -> Void = { _ in }
  ) throws -> Self {
    let provider: Provider =
      byHand
      ? .endpoints(
        authorization: sandbox.authorizationEndpoint.absoluteString,
        token: sandbox.tokenEndpoint.absoluteString,
        issuer: knowsIssuer ? sandbox.issuer.absoluteString : nil)
      : .issuer(sandbox.issuer.absoluteString)
    var configuration = try ClientConfiguration(
      clientID: clientID, clientSecret: secret, redirectURI: redirectURI, scope: scope,
      provider: provider, clientAuthentication: authentication)
    change(&configuration)
    oauth.register(configuration)
    return self
  }

  /// Makes each request to an endpoint time out after the sandbox has received it, until the
  /// returned task is cancelled.
  func outlastRequests(to endpoint: SandboxEndpoint) -> Task<Void, Never> {
    let time = TimeLead()
    oauth.environment.transport = CurlTransport(lead: time)
    return Task { [sandbox] in
      var known = 0
      while !Task.isCancelled {
        let count = sandbox.requests(to: endpoint).count
        // No request of a sign-in may take longer than 100 s.
        if count > known { time.advance(by: .seconds(101)) }
        known = count
        try? await Task.sleep(for: .milliseconds(5))
      }
    }
  }

  /// The endpoints that got requests, in order.
  var endpoints: [SandboxEndpoint?] { sandbox.requests.map(\.endpoint) }

  var tokenRequests: [SandboxRequest] { sandbox.requests(to: .token) }

  /// Runs a sign-in that must fail, and returns its error.
  ///
  /// After the user's visit, the clock advances until the sign-in has ended, because the app may
  /// ignore the answer.
  func fail(
    _ code: SQOAuthError.Code? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) async -> SQOAuthError? {
    let end = Task {
      try await eventually { self.hasAnswer.withLock(\.self) }
      try await eventually {
        self.clock.advance(by: 1_000)
        return !self.oauth.isSigningIn
      }
    }
    let error = await failure(code, sourceLocation: sourceLocation) {
      try await oauth.signIn()
    }
    end.cancel()
    // The task must not advance the clock of the next sign-in.
    _ = await end.result
    return error
  }
}
