import SQHTTP2
import SequencingOAuth

/// One HTTP/2 connection to a server, with the attempts on it.
///
/// It belongs to its ``RPCPeer``, whose lock protects it.
final class RPCConnection {
  let bytes: ConnectionBytes
  let settings: HTTP2Session.Settings
  let authority: String
  /// What speaks HTTP/2; `nil` before the TLS handshake is complete.
  var session: HTTP2Session?
  var streams: [Int32: RPCStream] = [:]
  var pulse: ConnectionPulse

  /// The attempts that have ended since the peer looked.
  var ended: [RPCStream] = []
  /// The attempts that are to be made on another connection.
  var moved: [RPCStream] = []
  /// Whether the connection takes no further attempt.
  private(set) var isDraining = false
  /// Why the connection ended; `nil` while it lives.
  private(set) var failure: RPCError?
  /// What the server said when it announced the end.
  private(set) var farewell: String?
  /// Whether a byte of HTTP/2 has come.
  var hasReceived = false
  /// Whether nothing more can be sent.
  var isOver = false
  /// Whether an attempt was made here.
  private(set) var hasBegun = false
  /// Whether the server has answered an attempt here.
  var hasAnswered = false
  /// How many attempts ended before they could be sent; nghttp2 keeps these.
  private var abandoned = 0

  /// How many times a socket is read before other sockets, and times, get their turn: a server may
  /// send faster than the client reads.
  static let turns = 16
  /// How many attempts may end before they could be sent.
  private static let maximumAbandoned = 1000

  /// Begins the TLS handshake or, without TLS, HTTP/2.
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
  /// Whether attempts can be made: the TLS handshake is complete.
  var isReady: Bool { session != nil && !isDraining && failure == nil }

  // MARK: Attempts

  /// Makes an attempt; returns `false` if the connection takes no further one.
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
  func end(_ stream: RPCStream, _ error: RPCError) {
    guard streams[stream.id] === stream else { return }
    stream.end(error)
    drop(stream)
  }

  /// Forgets an attempt that has a result, and tells the server to stop.
  func drop(_ stream: RPCStream) {
    session?.reset(stream.id, .cancel)
    if !stream.isSent { abandoned += 1 }
    // A server that lets no stream begin must not fill the memory.
    if abandoned >= Self.maximumAbandoned { isDraining = true }
    forget(stream)
  }

  /// Forgets an attempt that has a result.
  func forget(_ stream: RPCStream) {
    streams[stream.id] = nil
    ended.append(stream)
    if streams.isEmpty { pulse.isIdle(at: SocketLoop.now()) }
  }

  /// Whether a stream is the only one, and all of it was sent.
  func hasOnly(_ stream: RPCStream) -> Bool {
    isReady && !bytes.isBlocked && streams.count == 1 && streams[stream.id] === stream
  }

  /// Keeps the loop from the socket, because a caller's thread reads it.
  func rest() {
    SocketLoop.shared?.rest(socket)
  }

  /// Ends ``rest()``.
  func watchAgain() {
    if failure == nil { SocketLoop.shared?.watch(socket, isWriting: bytes.isBlocked) }
  }

  // MARK: The end

  /// Ends the connection and all attempts on it; those that the server cannot have seen are moved.
  func fail(_ error: RPCError) {
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
    // With TLS 1.3, the server may refuse the client after the client's side of the handshake.
    if let tls = bytes.tls, !pulse.isProven {
      let moment = session == nil ? "in" : "after"
      return fail(
        RPCError(transport: tls.failure("\(moment) the handshake, the connection \(reason)")))
    }
    let words = farewell.map { "; it had announced: \($0)" } ?? ""
    fail(RPCError(.unavailable, "the connection to \(authority) \(reason)\(words)"))
  }

  func sayGoodbye(_ farewell: String) {
    isDraining = true
    self.farewell = farewell
  }

  /// Checks whether both sides are done with the connection.
  func closeIfOver() {
    guard failure == nil, let session else { return }
    if let rule = session.brokenRule { return fail(breaking: rule) }
    if !session.isAlive || isDraining && streams.isEmpty { failBroken("is closed") }
  }

  /// Ends the connection because of a rule that the server broke.
  func fail(breaking rule: String) {
    if pulse.isProven {
      fail(RPCError(.unavailable, "\(authority) does not keep to HTTP/2: \(rule)"))
    } else {
      fail(RPCError(transport: .noHTTP2(authority, rule)))
    }
  }

  /// Does what is due.
  func check(at now: UInt64) {
    // The process may have been suspended, and an answer that came in that time counts.
    if streams.values.contains(where: { $0.deadline <= now }) {
      for _ in 0..<Self.turns where !read() { break }
    }
    for stream in streams.values where stream.deadline <= now { end(stream, .timeIsUp) }
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

  /// When something is due, by the clock of `SocketLoop`.
  var due: UInt64 {
    streams.values.reduce(pulse.due) { min($0, $1.deadline) }
  }
}
