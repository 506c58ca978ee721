import OAuthSandbox
import OAuthSandboxGRPC
import SQBasics
import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The data that a user needs to sign in at a sandbox.
struct SandboxDescription: Sendable, Equatable, Redacted {
  let issuer: String
  let user: String
  let password: String
}

/// The authorization server inside the program, and its client.
final class EmbeddedSandbox: Sendable {
  let clientID = "sq-demo"
  let scope = "openid profile demo files"
  let description: SandboxDescription
  private let server: SandboxServer
  /// The gRPC server beside it, once it was asked for.
  private let rpc = Locked<SandboxGRPCServer?>(nil)

  var issuer: String { description.issuer }
  /// The base URL of its drive.
  var drive: String { server.driveURL.absoluteString }

  /// Starts the sandbox, with a client that has this redirect URI.
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

  /// Runs a body with a sandbox, and stops the sandbox after it.
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

  /// Starts a sandbox; throws a failure with the reason if it cannot start.
  static func start(_ options: SandboxOptions) async throws(Failure) -> SandboxServer {
    do throws(SandboxError) {
      return try await SandboxServer.start(options)
    } catch {
      throw Failure(notStarted: error)
    }
  }

  /// Starts the gRPC server that takes the tokens of a sandbox, or throws a failure with the reason.
  static func startRPC(
    of sandbox: SandboxServer, port: UInt16 = 0
  ) throws(Failure) -> SandboxGRPCServer {
    do throws(SandboxError) {
      return try SandboxGRPCServer(of: sandbox, port: port)
    } catch {
      throw Failure(notStarted: error)
    }
  }

  /// The gRPC server that takes its tokens; it starts when this is called for the first time.
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

  /// Ends every session, as an administrator would; an app learns of it at its next request.
  func endSessions() {
    server.revokeEverything()
  }

  /// The configuration of its client, with the values of the options.
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
