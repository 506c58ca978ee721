public import OAuthSandbox
public import SQBasics
public import SQFoundation
import SQLoopback
import SQLoopbackHTTP2

/// A gRPC server on 127.0.0.1 that accepts the access tokens of a sandbox, without TLS.
///
/// ```swift
/// let sandbox = try await SandboxServer.start()
/// let grpc = try SandboxGRPCServer(of: sandbox)
/// // … let a client with a token of the sandbox call grpc.url …
/// await grpc.stop()
/// ```
///
/// It serves two methods of `grpc.testing.TestService`: `UnaryCall` and `StreamingOutputCall`. Both
/// return the token's user and scopes. The sandbox checks each token, so an expired or revoked
/// token is rejected at once. Unlike the sandbox's own API, the server accepts a token for any
/// resource. A token that is bound to a key needs a proof in each call, as `SandboxOptions.dpop`
/// says. Any thread may call any method.
public final class SandboxGRPCServer: Sendable {
  /// The server's address, `http://127.0.0.1:` with the port.
  public let url: URL
  private let server: HTTP2Server
  private let log: CallLog

  /// Starts a server, which ends with ``stop(grace:)`` or when its last reference is released.
  ///
  /// The server holds a reference to the sandbox, so the sandbox runs until it is stopped or the
  /// server is released.
  ///
  /// - Parameters:
  ///   - sandbox: The sandbox that checks the tokens.
  ///   - port: The port on 127.0.0.1; 0 selects a free port.
  ///   - scope: The scope that each token must have, such as `demo`. If `nil`, every valid token is
  ///     accepted.
  /// - Throws: `SandboxError.portInUse` if another program uses the port, and `SandboxError.system`
  ///   if the system refuses the loopback address.
  public init(
    of sandbox: SandboxServer, port: UInt16 = 0, scope: String? = nil
  ) throws(SandboxError) {
    let log = CallLog()
    var limits = HTTP2ServerLimits()
    limits.connections = 256
    limits.contentBytes = MessageFrame.prefixLength + MessageFrame.limit
    do throws(LoopbackError) {
      server = try HTTP2Server(port: port, limits: limits) { exchange in
        log.add(SandboxGRPCCall(exchange, date: sandbox.now))
        let call = ServedCall(exchange, of: sandbox, scope: scope)
        let task = Task { await call.run() }
        exchange.whenClosed.whenRaised(task.cancel)
      }
    } catch {
      throw SandboxError(error)
    }
    self.log = log
    let address = "http://127.0.0.1:\(server.port)"
    guard let url = URL(string: address) else {
      server.stop()
      throw .unexpectedAnswer(address)
    }
    self.url = url
  }

  deinit {
    server.stop()
  }

  /// Stops the server; its port is free when this method returns.
  ///
  /// New calls are rejected at once. Calls in progress have the time `grace` to end. Then their
  /// connections are closed, and clients get the status `UNAVAILABLE`.
  public func stop(grace: Duration = .milliseconds(100)) async {
    await server.stop(within: grace)
  }

  /// The calls so far, at most the newest 10,000, in order of arrival.
  ///
  /// A call is added before its answer is sent, whatever the answer is.
  public var calls: [SandboxGRPCCall] { log.calls }

  /// Removes all calls so far.
  public func forgetCalls() {
    log.clear()
  }
}

extension SandboxGRPCServer: Redacted {
  /// A text that names the server's address.
  public var description: String { "gRPC server at \(url.absoluteString)" }
}
