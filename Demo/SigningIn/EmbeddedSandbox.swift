import OAuthSandbox
import OAuthSandboxGRPC
import SQBasics
import SQFoundation
import SequencingOAuth

/// The data that a user needs to sign in at a sandbox.
struct SandboxDescription: Sendable, Equatable, Redacted {
  let issuer: String
  let user: String
  let password: String
}

/// The sandbox inside the program: an authorization server and its client.
final class EmbeddedSandbox: Sendable {
  let clientID = "sq-demo"
  let scope = "openid profile demo files"
  let description: SandboxDescription
  private let server: SandboxServer
  /// The sandbox's gRPC server, after its first use.
  private let rpc = Locked<SandboxGRPCServer?>(nil)

  var issuer: String { description.issuer }
  /// The base URL of the sandbox's drive.
  var drive: String { server.driveURL.absoluteString }

  /// Starts the sandbox with a client that has this redirect URI.
  init(
    redirectURI: String = SignInArguments.defaultRedirectURI, tokenLifetime: Duration
  ) async throws(Failure) {
    var options = SandboxOptions()
    options.clients = [
      SandboxClient(id: clientID, name: "SequencingOAuth demo", redirectURIs: [redirectURI])
    ]
    options.accessTokenLifetime = tokenLifetime
    server = try await Self.start(options)
    let user = options.users.first ?? .alice
    description = SandboxDescription(
      issuer: server.issuer.absoluteString, user: user.name, password: user.password)
  }

  /// Calls `body` with a sandbox, and stops the sandbox after it.
  static func running(
    redirectURI: String = SignInArguments.defaultRedirectURI, tokenLifetime: Duration,
    _ body: (EmbeddedSandbox) async throws(Failure) -> Void
  ) async throws(Failure) {
    let sandbox = try await EmbeddedSandbox(
      redirectURI: redirectURI, tokenLifetime: tokenLifetime)
    let outcome: Result<Void, Failure>
    do throws(Failure) {
      outcome = .success(try await body(sandbox))
    } catch {
      outcome = .failure(error)
    }
    await sandbox.stop()
    try outcome.get()
  }

  /// Starts a sandbox, or fails with the reason why it cannot start.
  static func start(_ options: SandboxOptions) async throws(Failure) -> SandboxServer {
    do throws(SandboxError) {
      return try await SandboxServer.start(options)
    } catch {
      throw Failure(notStarted: error)
    }
  }

  /// Starts the gRPC server for a sandbox's tokens, or fails with the reason why it cannot start.
  static func startRPC(
    of sandbox: SandboxServer, port: UInt16 = 0
  ) throws(Failure) -> SandboxGRPCServer {
    do throws(SandboxError) {
      return try SandboxGRPCServer(of: sandbox, port: port)
    } catch {
      throw Failure(notStarted: error)
    }
  }

  /// Returns the gRPC server for the sandbox's tokens; it starts on first use.
  func rpcServer(timeout: Duration = .seconds(60)) throws(Failure) -> RPCServer {
    let url = try rpc.withLock { rpc throws(Failure) in
      if let running = rpc { return running.url.absoluteString }
      let started = try Self.startRPC(of: server)
      rpc = started
      return started.url.absoluteString
    }
    return try RPCServer(url, authorities: nil, timeout: timeout)
  }

  /// Stops the sandbox; its tokens cannot be used after that.
  private func stop() async {
    await rpc.withLock(\.self)?.stop()
    await server.stop()
  }

  /// Ends all sessions like an administrator; an app notices that at its next request.
  func endSessions() {
    server.revokeEverything()
  }

  /// Returns the configuration of the sandbox's client, with the values of the options.
  func configuration(for options: SignInArguments) throws(Failure) -> ClientConfiguration {
    do throws(SQOAuthError) {
      var configuration = try ClientConfiguration(
        clientID: options.clientID ?? clientID, redirectURI: options.redirectURI.string,
        scope: options.scope ?? scope,
        provider: .issuer(issuer))
      configuration.signInTimeout = options.timeout
      configuration.resourceOrigins = options.resources
      return configuration
    } catch {
      throw .refused(error)
    }
  }
}

extension Failure {
  /// Creates a failure from the reason why a sandbox did not start.
  fileprivate init(notStarted error: SandboxError) {
    switch error {
    case .portInUse(let port):
      self.init("port_in_use", "another program uses port \(port)", status: .notAuthorized)
    default:
      self.init(
        "sandbox_unavailable", "the sandbox could not listen on 127.0.0.1: \(error)",
        status: .notAuthorized)
    }
  }
}
