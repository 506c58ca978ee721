import Foundation
import OAuthSandbox

@testable import SequencingOAuth
@testable import TestSupport

/// The environment of one schedule: a server, a store, and two programs that share the store.
final class World {
  let schedule: Schedule
  let sandbox: SandboxServer
  let clock = ManualClock()
  let report = Report()
  let store: WatchedStore
  let wire: Wire
  let callers: Callers
  /// A gate that keeps token requests waiting at the server while the gate is closed.
  let gate = Gate()
  /// The second program that shares the store.
  let other: AuthorizationModule
  private(set) var oauth: SQOAuth
  private(set) var delegate = RefreshRecorder()
  private(set) var stream: RefreshRecorder
  private var launches = 1

  // What the checks know about the session.

  /// The signed-in user, or `nil` if unknown.
  var owner: String?
  /// Whether a user may be signing in with the browser.
  var mayBeSigningIn = false
  /// How many sessions may have begun since the last check.
  var beginnings = 0
  /// The results of the last check.
  var last = (ends: 0, isSignedIn: false)

  init(_ schedule: Schedule) async throws {
    self.schedule = schedule
    var options = SandboxOptions()
    options.rotatesRefreshTokens = schedule.rotates
    options.accessTokenLifetime = .seconds(schedule.lifetime)
    let start = clock.now
    options.now = { start }
    sandbox = try await SandboxServer.start(options)
    store = WatchedStore(report)
    wire = Wire(isRotating: schedule.rotates, report: report)
    callers = Callers(report, store)
    let configuration = try Self.configuration(sandbox)
    other = AuthorizationModule(
      configuration: configuration,
      environment: Self.environment("the other", sandbox, wire, store, clock))
    (oauth, stream) = Self.program("the first", configuration, delegate) {
      [sandbox, wire, store, clock] in Self.environment($0, sandbox, wire, store, clock)
    }
  }

  var module: AuthorizationModule { oauth.module }

  /// Ends the program and starts it again.
  func relaunch() throws {
    launches += 1
    delegate = RefreshRecorder()
    (oauth, stream) = Self.program(
      "number \(launches)", try Self.configuration(sandbox), delegate
    ) { [sandbox, wire, store, clock] in Self.environment($0, sandbox, wire, store, clock) }
    last = (0, false)
  }

  private static func program(
    _ name: String, _ configuration: ClientConfiguration, _ delegate: RefreshRecorder,
    _ environment: (String) -> ClientEnvironment
  ) -> (SQOAuth, RefreshRecorder) {
    let oauth = SQOAuth(environment: environment(name))
    oauth.register(configuration)
    oauth.tokenRefreshDelegate = delegate
    return (oauth, RefreshRecorder.listening(to: oauth.events()))
  }

  private static func configuration(_ sandbox: SandboxServer) throws -> ClientConfiguration {
    var configuration = try ClientConfiguration(
      clientID: SandboxClient.app.id, redirectURI: "http://127.0.0.1/callback", scope: "profile",
      provider: .endpoints(
        authorization: sandbox.authorizationEndpoint.absoluteString,
        token: sandbox.tokenEndpoint.absoluteString,
        revocation: sandbox.revocationEndpoint.absoluteString,
        issuer: sandbox.issuer.absoluteString))
    configuration.allowsPasswordGrant = true
    return configuration
  }

  private static func environment(
    _ name: String, _ sandbox: SandboxServer, _ wire: Wire, _ store: WatchedStore,
    _ clock: ManualClock
  ) -> ClientEnvironment {
    var environment = ClientEnvironment()
    environment.transport = WiredClient(
      wire: wire, sender: name, client: CurlTransport.shared)
    environment.tokenStore = store
    environment.clock = clock
    environment.userAgent = CustomUserAgent { _ = try await SandboxVisitor().visit($0) }
    return environment
  }
}
