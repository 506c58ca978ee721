public import SQBasics
public import SQFoundation
import SQLoopback

/// An authorization server and a small protected API on 127.0.0.1, for demos and tests.
///
/// ```swift
/// let sandbox = try await SandboxServer.start()
/// // … let a client sign in at sandbox.issuer, as sandbox-app …
/// await sandbox.stop()
/// ```
///
/// It has users, clients, login and consent pages, the grants of RFC 6749 except the implicit
/// grant, with PKCE and rotating refresh tokens, OpenID Connect, revocation, discovery and a small
/// drive. It records every request, and tests can move its clock and make it misbehave. All data is
/// in memory. Any thread may call any method. A closure of the test that an endpoint calls may too,
/// on the thread that calls it.
public final class SandboxServer: Sendable {
  /// The issuer identifier, `http://127.0.0.1:` with the port.
  ///
  /// With ``SandboxOptions/issuerEndsWithSlash``, a slash follows the port.
  public let issuer: URL
  let core: SandboxCore
  private let server: Locked<Listening>
  private struct Listening {
    var server: LoopbackServer
    /// The number of calls of ``stop()``.
    var stops = 0
  }

  private let listen: @Sendable (UInt16) throws(LoopbackError) -> LoopbackServer

  /// Starts a sandbox, which runs until ``stop()`` or until its last reference is released.
  public static func start(
    _ options: SandboxOptions = SandboxOptions()
  ) async throws(SandboxError) -> SandboxServer {
    try SandboxServer(options)
  }

  private init(_ options: SandboxOptions) throws(SandboxError) {
    // Fail now if OpenSSL lacks an algorithm. Later, the sandbox could only stop the program or
    // issue tokens that no client can verify.
    if let lack = Crypto.lack() { throw .cryptographyUnavailable(lack) }
    var limits = LoopbackLimits()
    limits.connections = 1024
    let entrance = Locked<SandboxCore?>(nil)
    listen = { [limits] port throws(LoopbackError) in
      try LoopbackServer(
        port: port, limits: limits,
        admission: { head in entrance.withLock { $0 }?.admission(of: head) ?? .unread },
        handler: { request in
          guard let core = entrance.withLock({ $0 }) else { return .script([]) }
          return await core.reply(to: request)
        })
    }
    let server: LoopbackServer
    do throws(LoopbackError) {
      server = try listen(options.port)
    } catch {
      throw SandboxError(error)
    }
    self.server = Locked(Listening(server: server))
    let address = "http://\(server.authority)"
    let state = SandboxState(address: address, options: options)
    guard let issuer = URL(string: state.issuer) else { throw .unexpectedAnswer(address) }
    self.issuer = issuer
    let core = SandboxCore(state)
    self.core = core
    entrance.withLock { $0 = core }
  }

  /// Stops the sandbox; its port is free when this returns.
  public func stop() async {
    let server = server.withLock { listening in
      listening.stops += 1
      return listening.server
    }
    await server.stop()
  }

  /// Closes the port and all connections and, after a pause, listens on that port again; all data
  /// stays.
  ///
  /// A request in progress gets no answer, but it may have taken effect. If ``stop()`` is called
  /// meanwhile, the sandbox stays stopped.
  ///
  /// - Throws: ``SandboxError`` if the port cannot be used, for example because another program has
  ///   taken it in the meantime.
  public func restart(after pause: Duration = .zero) async throws {
    let old = server.withLock(\.self)
    await old.server.stop()
    try? await Task.sleep(for: pause.bounded)
    do throws(LoopbackError) {
      try server.withLock { listening throws(LoopbackError) in
        // Another call may have stopped the sandbox, or started it again.
        guard listening.stops == old.stops, listening.server === old.server else { return }
        listening.server = try listen(old.server.port)
      }
    } catch {
      throw SandboxError(error)
    }
  }

  /// Returns the address of an endpoint.
  public func url(_ endpoint: SandboxEndpoint) -> URL {
    issuer.appending(path: endpoint.path)
  }

  /// The address of the authorization endpoint, `/authorize`.
  public var authorizationEndpoint: URL { url(.authorization) }
  /// The address of the token endpoint, `/token`.
  public var tokenEndpoint: URL { url(.token) }
  /// The address of the revocation endpoint, `/revoke`.
  public var revocationEndpoint: URL { url(.revocation) }
  /// The registered clients.
  public var clients: [SandboxClient] { core.withState { $0.options.clients } }
  /// The users who can sign in.
  public var users: [SandboxUser] { core.withState { $0.options.users } }

  /// Registers a client, or replaces the client with the same ID.
  ///
  /// Use it in a test for a redirect URI whose port is known only at run time.
  public func register(_ client: SandboxClient) {
    core.withState { state in
      if let index = state.options.clients.firstIndex(where: { $0.id == client.id }) {
        state.options.clients[index] = client
      } else {
        state.options.clients.append(client)
      }
    }
  }

  /// Removes a client and its tokens, as if the server had lost its data.
  ///
  /// A client that registered itself is not notified. An unknown ID has no effect.
  public func forgetClient(_ id: String) {
    core.withState { $0.forgetClient(id) }
  }

  // MARK: Misbehaviour

  /// Makes an endpoint misbehave for its next requests, or until ``behave(at:)`` if `times` is
  /// `nil`.
  ///
  /// Several misbehaviours take effect one after the other, in the order of the calls. `times`
  /// counts requests. If the misbehaviour alters a redirect or a token, `times` counts redirects or
  /// tokens.
  public func misbehave(
    at endpoint: SandboxEndpoint, _ misbehaviour: SandboxMisbehaviour, times: Int? = 1
  ) {
    core.withState { $0.plan.add(misbehaviour.kind, at: endpoint, times: times) }
  }

  /// Ends all misbehaviour at one endpoint or, if `endpoint` is `nil`, at all endpoints.
  public func behave(at endpoint: SandboxEndpoint? = nil) {
    core.withState { $0.plan.clear(endpoint) }
  }

  // MARK: Time

  /// The current time on the sandbox's clock.
  public var now: Date { core.withState { $0.now } }

  /// Moves the sandbox's clock forwards or, with a negative duration, back.
  public func advance(by duration: Duration) {
    core.withState { $0.advance += duration.signedBounded }
  }
}

extension SandboxServer: Redacted {
  /// A text that names the issuer.
  public var description: String { "sandbox at \(issuer.absoluteString)" }
}
