import SQBasics
import SQHTTP2
import SQLoopback

/// A client's connection to the server, protected by the server's lock.
final class HTTP2ServerConnection {
  /// The identity of a connection; the socket alone is not enough, as the system reuses its number.
  struct Place: Sendable, Hashable {
    let socket: Int32
    let number: UInt64
  }

  /// A request and its answer.
  struct Stream {
    var fields: [HTTP2Exchange.Field] = []
    var fieldBytes = 0
    var exchange: HTTP2Exchange?
    var content: [UInt8] = []
    /// Whether the request's content was reported as complete, too large or cut off.
    var isContentSettled = false
    /// Content of the answer; the bytes from index `sent` on are still to be sent.
    var output: [UInt8] = []
    var sent = 0
    var isComplete = false
    var trailers: HeaderBlock?
    /// The writers that wait until all content written so far is sent; they get `false` if the
    /// stream ends first.
    var waiters: [OneShot<Bool>] = []
  }

  /// The number of reads from one socket before other sockets get their turn.
  private static let turns = 64
  /// The time that the client has to close the connection after the last bytes, in nanoseconds.
  private static let lingerTime: UInt64 = 2_000_000_000

  let place: Place
  let limits: HTTP2ServerLimits
  unowned let server: HTTP2Server
  private(set) var session: HTTP2Session?
  var streams: [Int32: Stream] = [:]
  /// The total bytes of incomplete request contents in memory.
  var buffered = 0
  var news = HTTP2ServerNews()
  /// The time at which the server ends the connection, on the clock of `Monotonic`.
  ///
  /// It is `.max` while a request is under way.
  private(set) var deadline: UInt64
  private(set) var isClosed = false
  private var exchanges = 0
  private var output: [UInt8] = []
  private var sent = 0
  private var isBlocked = false
  /// Whether everything is sent and the server only waits for the client to close the connection.
  private var isLingering = false
  private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 * 1024, alignment: 16)

  init?(_ place: Place, server: HTTP2Server, limits: HTTP2ServerLimits) {
    self.place = place
    self.server = server
    self.limits = limits
    deadline = Self.deadline(limits)
    session = HTTP2Session(isServer: true, owner: self)
    if session == nil { return nil }
  }

  deinit {
    room.deallocate()
  }

  /// Returns what happened since the last call; if the connection is closed, ends its exchanges.
  func takeNews() -> HTTP2ServerNews {
    if isClosed {
      streams.values.forEach(drop)
      streams = [:]
    }
    defer { news = HTTP2ServerNews() }
    return news
  }

  // MARK: Bytes

  /// Reads what has arrived, up to a limit, so that other connections and timers get their turn.
  func read() {
    for _ in 0..<Self.turns where !isClosed {
      switch SocketIO.receive(place.socket, into: room) {
      case .bytes(let count):
        if !isLingering { take(UnsafeRawBufferPointer(rebasing: room[..<count])) }
      case .wait: return
      case .end, .failed: isClosed = true
      }
    }
  }

  private func take(_ bytes: UnsafeRawBufferPointer) {
    do throws(HTTP2Session.Failure) {
      session?.arrived(bytes.count, at: Monotonic.now())
      try session?.receive(bytes)
    } catch {
      isClosed = true
    }
    if session?.isFlooded == true { breakOff() }
  }

  /// Ends a connection on which the client sent far more bytes than its content needs, and tells
  /// the client why.
  private func breakOff() {
    session?.terminate(.enhanceYourCalm)
    flush()
    isClosed = true
  }

  func flush() {
    while !isClosed {
      if sent == output.count {
        output.removeAll(keepingCapacity: true)
        sent = 0
        guard (try? session?.takeOutput(into: &output, limit: 64 * 1024)) != nil else {
          isClosed = true
          return
        }
      }
      guard sent < output.count else { break }
      let outcome = output.withUnsafeBytes {
        SocketIO.send(place.socket, UnsafeRawBufferPointer(rebasing: $0[sent...]))
      }
      switch outcome {
      case .bytes(let count): sent += count
      case .wait: return watch(isBlocked: true)
      case .end, .failed: isClosed = true
      }
    }
    guard !isClosed else { return }
    watch(isBlocked: false)
    if session?.isAlive != true { linger() }
  }

  private func watch(isBlocked: Bool) {
    guard isBlocked != self.isBlocked else { return }
    self.isBlocked = isBlocked
    EventLoop.shared?.change(
      place.socket, to: isBlocked ? [.readable, .writable] : .readable)
  }

  // MARK: Time and the end

  /// Tells the client that no more bytes will come, and waits for it to close the connection.
  ///
  /// If the server closed a connection that has unread bytes, the client could lose the last bytes
  /// of the answer.
  private func linger() {
    guard !isLingering else { return }
    isLingering = true
    Sockets.finishSending(place.socket)
    deadline = Monotonic.now() + Self.lingerTime
  }

  /// Ends a connection whose deadline has passed.
  func timeOut() {
    // After the last byte, or to a client that takes no bytes, no GOAWAY frame can be sent.
    if isLingering || isBlocked { isClosed = true } else { session?.terminate() }
  }

  /// Ends the connection at once.
  func close() {
    isClosed = true
  }

  /// Announces that the connection accepts no further requests; those under way may end.
  func shutDown() {
    session?.shutDown()
  }

  private static func deadline(_ limits: HTTP2ServerLimits) -> UInt64 {
    Monotonic.after(limits.idleTime)
  }

  func begin(_ exchange: HTTP2Exchange) {
    exchanges += 1
    deadline = .max
    news.arrived.append(exchange)
  }

  /// Reports the end of a stream that was removed.
  func drop(_ stream: Stream) {
    guard let exchange = stream.exchange else { return }
    exchanges -= 1
    if exchanges == 0, !isLingering { deadline = Self.deadline(limits) }
    if !stream.isContentSettled {
      buffered -= stream.content.count
      news.contents.append((exchange, .cut))
    }
    news.drained += stream.waiters.map { ($0, false) }
    news.closed.append(exchange)
  }
}
