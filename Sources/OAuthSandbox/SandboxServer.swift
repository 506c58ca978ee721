public import Basics
import LoopbackHTTP

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// An authorization server and a small protected API on 127.0.0.1, for demos and tests.
///
/// ```swift
/// let sandbox = try await SandboxServer.start()
/// // … let a client sign in at sandbox.issuer, as sandbox-app …
/// await sandbox.stop()
/// ```
///
/// It has users, clients, login and consent pages, the grants of RFC 6749 with PKCE and rotating
/// refresh tokens, revocation, discovery and a small drive. It remembers every request, its clock can be moved,
/// and it misbehaves on demand. Everything is in memory; all methods may be called from any thread.
public final class SandboxServer: Sendable {
  /// The issuer identifier: `http://127.0.0.1:` and the port.
  public let issuer: URL
  let core: SandboxCore
  private let server: Locked<LoopbackServer>
  private let listen: @Sendable (UInt16) throws(LoopbackError) -> LoopbackServer

  /// Starts a sandbox; it ends with ``stop()``, or when nobody holds it any more.
  public static func start(
    _ options: SandboxOptions = SandboxOptions()
  ) async throws(SandboxError) -> SandboxServer {
    try SandboxServer(options)
  }

  private init(_ options: SandboxOptions) throws(SandboxError) {
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
    self.server = Locked(server)
    let address = "http://\(server.authority)"
    guard let issuer = URL(string: address) else { throw .unexpectedAnswer(address) }
    self.issuer = issuer
    let core = SandboxCore(SandboxState(issuer: address, options: options))
    self.core = core
    entrance.withLock { $0 = core }
  }

  /// Ends it: the port is free when this returns.
  public func stop() async {
    await server.withLock(\.self).stop()
  }

  /// Closes its port and every connection, and listens there again after a while, with all that it
  /// knew.
  ///
  /// Requests that are under way get no answer, though some may have had their effect.
  ///
  /// - Throws: ``SandboxError``, if another program has taken the port meanwhile.
  public func restart(after pause: Duration = .zero) async throws {
    let old = server.withLock(\.self)
    await old.stop()
    try? await Task.sleep(for: pause)
    do throws(LoopbackError) {
      let new = try listen(old.port)
      server.withLock { $0 = new }
    } catch {
      throw SandboxError(error)
    }
  }

  /// The address of an endpoint.
  public func url(_ endpoint: SandboxEndpoint) -> URL {
    issuer.appending(path: endpoint.path)
  }

  /// `/authorize`.
  public var authorizationEndpoint: URL { url(.authorization) }
  /// `/token`.
  public var tokenEndpoint: URL { url(.token) }
  /// `/revoke`.
  public var revocationEndpoint: URL { url(.revocation) }
  /// The clients that are registered.
  public var clients: [SandboxClient] { core.withState { $0.options.clients } }
  /// The users that can sign in.
  public var users: [SandboxUser] { core.withState { $0.options.users } }

  // MARK: Misbehaviour

  /// Lets an endpoint misbehave for its next requests; `nil` for all until ``behave(at:)``.
  ///
  /// What is asked for first is done first. What spoils the redirect, at the authorization endpoint,
  /// counts redirects; all else counts requests.
  public func misbehave(
    at endpoint: SandboxEndpoint, _ misbehaviour: SandboxMisbehaviour, times: Int? = 1
  ) {
    core.withState { $0.plan.add(misbehaviour.kind, at: endpoint, times: times) }
  }

  /// Ends all misbehaviour, at one endpoint or everywhere.
  public func behave(at endpoint: SandboxEndpoint? = nil) {
    core.withState { $0.plan.clear(endpoint) }
  }

  // MARK: Time

  /// What the sandbox's clock says.
  public var now: Date { core.withState { $0.now } }

  /// Moves the clock, forwards or back.
  public func advance(by duration: Duration) {
    core.withState { $0.advance += duration }
  }
}

extension SandboxServer: Redacted {
  /// The issuer alone.
  public var description: String { "sandbox at \(issuer.absoluteString)" }
}
