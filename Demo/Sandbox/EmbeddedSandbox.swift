import OAuthSandbox
import OAuthSandboxGRPC
import SQBasics
import SQFoundation
import SQLibC
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
  /// The client's key; `nil` for a public client.
  private let key: ClientKey?
  private let server: SandboxServer
  /// The sandbox's gRPC server, after its first use.
  private let rpc = Locked<SandboxGRPCServer?>(nil)

  var issuer: String { description.issuer }
  /// The base URL of the sandbox's drive.
  var drive: String { server.driveURL.absoluteString }

  /// Starts the sandbox with the client that the options of a sign-in describe.
  init(
    for signIn: SignInArguments? = nil, tokenLifetime: Duration
  ) async throws(Failure) {
    var options = SandboxOptions()
    key = try Self.clientKey(signIn)
    options.clients = [try Self.client(clientID, signIn, key)]
    if signIn?.protections.bindsTokens == true { options.dpop = SandboxDPoPOptions(.accepted) }
    if let profile = signIn?.protections.profile.sandboxProfile { options.apply(profile) }
    options.accessTokenLifetime = tokenLifetime
    server = try await Self.start(options)
    let user = options.users.first ?? .alice
    description = SandboxDescription(
      issuer: server.issuer.absoluteString, user: user.name, password: user.password)
  }

  /// Calls `body` with a new sandbox, and then stops the sandbox.
  static func running(
    for signIn: SignInArguments? = nil, tokenLifetime: Duration,
    _ body: (EmbeddedSandbox) async throws(Failure) -> Void
  ) async throws(Failure) {
    let sandbox = try await EmbeddedSandbox(for: signIn, tokenLifetime: tokenLifetime)
    let outcome = await Result.of { () throws(Failure) in try await body(sandbox) }
    await sandbox.stop()
    try outcome.get()
  }

  /// Starts a sandbox, or fails with the reason why it cannot start.
  static func start(_ options: SandboxOptions) async throws(Failure) -> SandboxServer {
    do throws(SandboxError) {
      return try await SandboxServer.start(options)
    } catch {
      throw Failure(notStarted: error, at: options.port)
    }
  }

  /// Starts the gRPC server for a sandbox's tokens, or fails with the reason why it cannot start.
  static func startRPC(
    of sandbox: SandboxServer, port: UInt16 = 0
  ) throws(Failure) -> SandboxGRPCServer {
    do throws(SandboxError) {
      return try SandboxGRPCServer(of: sandbox, port: port)
    } catch {
      throw Failure(notStarted: error, at: port)
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
    return try RPCServer(url, timeout: timeout)
  }

  /// Stops the sandbox; its tokens cannot be used after that.
  private func stop() async {
    await rpc.withLock(\.self)?.stop()
    await server.stop()
  }

  /// Ends all sessions, as an administrator would; an app notices this at its next request.
  func endSessions() {
    server.revokeEverything()
  }

  /// Returns the configuration of the sandbox's client, with the values of the options.
  func configuration(for options: SignInArguments) throws(Failure) -> ClientConfiguration {
    try Failure.refusing { () throws(SQOAuthError) in
      var configuration = try ClientConfiguration(
        clientID: options.clientID ?? clientID, clientKey: key,
        redirectURI: options.redirectURI.string, scope: options.scope ?? scope,
        provider: .issuer(issuer))
      options.protections.apply(to: &configuration)
      configuration.signInTimeout = options.timeout
      configuration.resourceOrigins = options.resources
      return configuration
    }
  }
}

// The client that the options of a sign-in describe.
extension EmbeddedSandbox {
  /// Returns the key of the options, or a new key if the profile needs one.
  private static func clientKey(_ signIn: SignInArguments?) throws(Failure) -> ClientKey? {
    guard let signIn else { return nil }
    let profile = signIn.protections.profile
    if let file = signIn.key { return try file.clientKey(for: profile) }
    guard profile != .standard else { return nil }
    do throws(SQOAuthError) {
      return try ClientKey()
    } catch {
      throw Failure(error)
    }
  }

  private static func client(
    _ id: String, _ signIn: SignInArguments?, _ key: ClientKey?
  ) throws(Failure) -> SandboxClient {
    let name = "SequencingOAuth demo"
    var client = SandboxClient(id: id, name: name)
    if let jwk = key?.publicJWK {
      client = SandboxClient(id: id, key: try SandboxJSON(jwk), name: name)
    }
    // FAPI 2.0 forbids RS256 for ID tokens too.
    if signIn?.protections.profile.sandboxProfile != nil { client.idTokenAlgorithm = .es256 }
    client.redirectURIs = [signIn?.redirectURI.string ?? SignInArguments.defaultRedirectURI]
    return client
  }
}

extension SandboxJSON {
  /// Creates the sandbox's form of a JSON value.
  init(_ value: JSONValue) throws(Failure) {
    self = SandboxJSON(parsing: try oneLineOfJSON(value)) ?? .null
  }
}

extension SecurityProfile {
  /// The profile of a sandbox for clients that follow this profile; `nil` if the sandbox needs
  /// none.
  fileprivate var sandboxProfile: SandboxSecurityProfile? {
    switch self {
    case .standard, .mcp: nil
    case .fapi2: .fapi2
    case .fapi2MessageSigning: .fapi2MessageSigning
    }
  }
}

extension Failure {
  /// Creates a failure from the reason why a sandbox did not start at a port.
  fileprivate init(notStarted error: SandboxError, at port: UInt16) {
    switch error {
    case .system(EACCES) where (1..<1024).contains(port):
      self.init(
        "sandbox_unavailable",
        "port \(port) is for the system's services; choose one from 1024 on, or 0 for any",
        status: .notAuthorized)
    case .portInUse(let port):
      self.init("port_in_use", "another program uses port \(port)", status: .notAuthorized)
    default:
      self.init(
        "sandbox_unavailable",
        "the sandbox could not start: \(error)",
        status: .notAuthorized)
    }
  }
}
