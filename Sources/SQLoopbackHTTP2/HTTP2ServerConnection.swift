import SQBasics
import SQHTTP2
import SQLoopback

/// One connection of a client to the server; the server's lock protects it.
final class HTTP2ServerConnection {
  /// Which connection of the server it is: the system gives a socket's number again.
  struct Place: Sendable, Hashable {
    let socket: Int32
    let number: UInt64
  }

  /// A request that arrives, and the answer to it.
  struct Stream {
    var fields: [HTTP2Exchange.Field] = []
    var fieldBytes = 0
    var exchange: HTTP2Exchange?
    var content: [UInt8] = []
    /// Whether the content was passed on, or never will be.
    var isContentSettled = false
    /// Content of the answer that was not sent yet, from `sent` on.
    var output: [UInt8] = []
    var sent = 0
    var isComplete = false
    var trailers: HeaderBlock?
    /// The tasks that wait until the content of the answer is sent.
    var waiters: [OneShot<Bool>] = []
  }

  /// How many times a socket is read before others get their turn.
  private static let turns = 64
  /// How long the client may take to close the connection, after the server has sent all.
  private static let lingerTime: UInt64 = 2_000_000_000

  let place: Place
  let limits: HTTP2ServerLimits
  unowned let server: HTTP2Server
  private(set) var session: HTTP2Session?
  var streams: [Int32: Stream] = [:]
  /// How many bytes of contents wait for the rest.
  var buffered = 0
  var news = HTTP2ServerNews()
  /// When the server ends the connection, on the clock of `SocketLoop`; `.max` while a request is
  /// under way.
  private(set) var deadline: UInt64
  private(set) var isClosed = false
  private var exchanges = 0
  private var output: [UInt8] = []
  private var sent = 0
  private var isBlocked = false
  /// Whether everything is sent, and only the client's end of the connection is awaited.
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

  /// Takes the news since the last call; once the connection is closed, also of all its exchanges.
  func takeNews() -> HTTP2ServerNews {
    if isClosed {
      streams.values.forEach(drop)
      streams = [:]
    }
    defer { news = HTTP2ServerNews() }
    return news
  }

  // MARK: Bytes

  /// Reads what has arrived, up to a limit, so that other connections and times get their turn.
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
      session?.arrived(bytes.count, at: SocketLoop.now())
      try session?.receive(bytes)
    } catch {
      isClosed = true
    }
    if session?.isFlooded == true { breakOff() }
  }

  /// Ends a connection that brings far more bytes than content, and tells the client why.
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
    SocketLoop.shared?.watch(place.socket, isWriting: isBlocked)
  }

  // MARK: Time and the end

  /// Says that nothing more comes, and waits for the client to close the connection: closing it
  /// with unread bytes could cost the client the last ones.
  private func linger() {
    guard !isLingering else { return }
    isLingering = true
    Sockets.finishSending(place.socket)
    deadline = SocketLoop.now() + Self.lingerTime
  }

  /// Ends a connection whose deadline has passed.
  func timeOut() {
    if isLingering { isClosed = true } else { session?.terminate() }
  }

  /// Ends the connection at once.
  func close() {
    isClosed = true
  }

  /// Announces that no further request is taken; those that are under way may end.
  func shutDown() {
    session?.shutDown()
  }

  private static func deadline(_ limits: HTTP2ServerLimits) -> UInt64 {
    SocketLoop.now() + UInt64(limits.idleTime.wholeNanoseconds)
  }

  func begin(_ exchange: HTTP2Exchange) {
    exchanges += 1
    deadline = .max
    news.arrived.append(exchange)
  }

  /// Records that a stream is over.
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
