import SQBasics
import SQHTTP2
import SequencingOAuth

/// One HTTP/2 connection to a server, with the attempts to make calls on it.
///
/// It may be used only under the lock of its ``RPCPeer``.
final class RPCConnection {
  let bytes: ConnectionBytes
  let settings: HTTP2Session.Settings
  let authority: String
  /// The HTTP/2 session; `nil` until the TLS handshake is complete.
  var session: HTTP2Session?
  var streams: [Int32: RPCStream] = [:]
  var pulse: ConnectionPulse

  /// The attempts that have ended and that the peer has not collected yet.
  var ended: [RPCStream] = []
  /// The attempts to make on another connection.
  var moved: [RPCStream] = []
  /// Whether the connection accepts no further attempts.
  private(set) var isDraining = false
  /// The reason why the connection ended; `nil` while it is open.
  private(set) var failure: RPCCallError?
  /// The server's reason when it announced the end of the connection (GOAWAY).
  private(set) var farewell: String?
  /// Whether a byte of HTTP/2 has arrived.
  var hasReceived = false
  /// Whether sending has failed, so that nothing more can be sent.
  var isOver = false
  /// Whether an attempt was made on this connection.
  private(set) var hasBegun = false
  /// Whether the server has answered an attempt on this connection.
  var hasAnswered = false
  /// The number of attempts that ended before they could be sent; nghttp2 keeps them in memory.
  private var abandoned = 0

  /// The number of reads from a socket before other sockets and timers get their turn.
  ///
  /// A server may send faster than the client reads.
  static let turns = 16
  /// The number of unsent attempts after which the connection accepts no further attempts.
  private static let maximumAbandoned = 1000

  /// Creates a connection, and begins the TLS handshake or, without TLS, HTTP/2.
  init(
    _ wire: any Wire, host: String, authority: String, keepAlive: Duration?,
    settings: HTTP2Session.Settings = HTTP2Session.Settings()
  ) throws(SQOAuthError) {
    bytes = try ConnectionBytes(wire, host: host, authority: authority)
    self.settings = settings
    self.authority = authority
    pulse = ConnectionPulse(interval: keepAlive)
    advance()
  }

  var socket: Int32 { bytes.socket }
  /// Whether attempts can be made: the TLS handshake is complete, and the connection is not ending.
  var isReady: Bool { session != nil && !isDraining && failure == nil }

  // MARK: Attempts

  /// Makes an attempt; returns `false` if the connection accepts no further attempts.
  func begin(_ stream: RPCStream, at now: UInt64) -> Bool {
    guard let session, session.acceptsStreams, let id = session.request(stream.block) else {
      isDraining = true
      return false
    }
    hasBegun = true
    stream.id = id
    streams[id] = stream
    pulse.isBusy(at: now)
    return true
  }

  /// Ends an attempt with an error, and tells the server.
  func end(_ stream: RPCStream, _ error: RPCCallError) {
    guard streams[stream.id] === stream else { return }
    stream.end(error)
    drop(stream)
  }

  /// Removes an attempt that has a result, and tells the server to stop answering.
  func drop(_ stream: RPCStream) {
    session?.reset(stream.id, .cancel)
    if !stream.isSent { abandoned += 1 }
    // A server that allows no streams must not make the client use ever more memory.
    if abandoned >= Self.maximumAbandoned { drain() }
    forget(stream)
  }

  /// Accepts no further attempts, and moves those that were not sent yet.
  ///
  /// nghttp2 keeps an attempt back while the server allows no further stream. The streams under way
  /// may last for hours.
  private func drain() {
    isDraining = true
    for stream in streams.values.sorted(by: { $0.id < $1.id })
    where !stream.isSent && stream.isMovable && stream.result == nil {
      session?.reset(stream.id, .cancel)
      streams[stream.id] = nil
      moved.append(stream)
    }
  }

  /// Removes an attempt that has a result.
  func forget(_ stream: RPCStream) {
    streams[stream.id] = nil
    ended.append(stream)
    if streams.isEmpty { pulse.isIdle(at: Monotonic.now()) }
  }

  // MARK: The end

  /// Ends the connection and its attempts; attempts that the server cannot have seen are moved.
  func fail(_ error: RPCCallError) {
    guard failure == nil else { return }
    failure = error
    isDraining = true
    for stream in streams.values.sorted(by: { $0.id < $1.id }) {
      if !stream.isSent, stream.isMovable {
        moved.append(stream)
      } else {
        stream.end(error)
        ended.append(stream)
      }
    }
    streams = [:]
  }

  func failBroken(_ reason: String) {
    // With TLS 1.3, the server may reject the client after the client has ended its handshake.
    if let tls = bytes.tls, !pulse.isProven {
      let moment = session == nil ? "in" : "after"
      return fail(
        RPCCallError(transport: tls.failure("\(moment) the handshake, the connection \(reason)")))
    }
    let words = farewell.map { "; the server had announced: \($0)" } ?? ""
    fail(RPCCallError(.unavailable, "the connection to \(authority) \(reason)\(words)"))
  }

  func sayGoodbye(_ farewell: String) {
    self.farewell = farewell
    drain()
  }

  /// Closes the connection if both sides have finished with it.
  func closeIfOver() {
    guard failure == nil, let session else { return }
    if let rule = session.brokenRule { return fail(breaking: rule) }
    if !session.isAlive || isDraining && streams.isEmpty { failBroken("is closed") }
  }

  /// Ends the connection because the server broke a protocol rule.
  func fail(breaking rule: String) {
    if pulse.isProven {
      fail(RPCCallError(.unavailable, "\(authority) does not keep to HTTP/2: \(rule)"))
    } else {
      fail(RPCCallError(transport: .noHTTP2(authority, rule)))
    }
  }

  /// Ends attempts whose time is over, and performs what the keep-alive rules require.
  func check(at now: UInt64) {
    // The process may have been suspended. An answer that arrived in the meantime counts.
    if streams.values.contains(where: { $0.deadline <= now }) {
      for _ in 0..<Self.turns where !read() { break }
    }
    let late = streams.values.filter { $0.deadline <= now }
    for stream in late { end(stream, .timeIsUp) }
    // The next calls get another connection. A ping could tell a dead connection from a slow
    // server, but many servers close a connection with more than one ping in five minutes.
    if !late.isEmpty, pulse.isDoubtful(at: now) { drain() }
    switch pulse.task(at: now) {
    case .none: break
    case .ping: session?.ping()
    case .giveUp(let reason): return failBroken(reason)
    case .close:
      session?.terminate()
      flush()
      return failBroken("was not used for a while")
    }
    flush()
  }

  /// The next time at which something is due, on the clock of `Monotonic`.
  var due: UInt64 {
    streams.values.reduce(pulse.due) { min($0, $1.deadline) }
  }
}
