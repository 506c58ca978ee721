import Basics
import HTTP2

/// One connection of a client to the server; the server's lock protects it.
final class HTTP2ServerConnection {
  /// A request that arrives, and the answer to it.
  private struct Stream: Redacted {
    var fields: [HTTP2Exchange.Field] = []
    var body: [UInt8] = []
    var exchange: HTTP2Exchange?
    /// Content of the answer that was not sent yet, from `sent` on.
    var output: [UInt8] = []
    var sent = 0
    var isComplete = false
    var trailers: HeaderBlock?

    var description: String { "\(body.count) bytes of a request" }
  }

  /// The largest content of a request, in bytes.
  private static let maximumBody = 1 << 20

  private let socket: Int32
  private unowned let server: HTTP2Server
  private var session: HTTP2Session?
  private var streams: [Int32: Stream] = [:]
  private var output: [UInt8] = []
  private var sent = 0
  private var isBlocked = false
  private(set) var isClosed = false
  private var arrived: [HTTP2Exchange] = []
  private var closed: [HTTP2Exchange] = []
  private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 * 1024, alignment: 16)

  init?(_ socket: Int32, server: HTTP2Server) {
    self.socket = socket
    self.server = server
    session = HTTP2Session(isServer: true, owner: self)
    if session == nil { return nil }
  }

  deinit {
    room.deallocate()
  }

  func takeNews() -> (arrived: [HTTP2Exchange], closed: [HTTP2Exchange]) {
    if isClosed {
      closed += streams.values.compactMap(\.exchange)
      streams = [:]
    }
    defer { (arrived, closed) = ([], []) }
    return (arrived, closed)
  }

  // MARK: Bytes

  func read() {
    while !isClosed {
      switch SocketIO.receive(socket, into: room) {
      case .bytes(let count): take(UnsafeRawBufferPointer(rebasing: room[..<count]))
      case .wait: return
      case .end, .failed: isClosed = true
      }
    }
  }

  private func take(_ bytes: UnsafeRawBufferPointer) {
    do throws(HTTP2Session.Failure) {
      try session?.receive(bytes)
    } catch {
      isClosed = true
    }
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
        SocketIO.send(socket, UnsafeRawBufferPointer(rebasing: $0[sent...]))
      }
      switch outcome {
      case .bytes(let count): sent += count
      case .wait: return watch(isBlocked: true)
      case .end, .failed: isClosed = true
      }
    }
    watch(isBlocked: false)
    if session?.isAlive != true { isClosed = true }
  }

  private func watch(isBlocked: Bool) {
    guard isBlocked != self.isBlocked else { return }
    self.isBlocked = isBlocked
    SocketLoop.shared?.watch(socket, isWriting: isBlocked)
  }

  // MARK: Answers

  func respond(to stream: Int32, _ head: HeaderBlock, hasContent: Bool) {
    guard streams[stream] != nil else { return }
    session?.respond(to: stream, head, hasContent: hasContent)
  }

  func write(_ bytes: [UInt8], to stream: Int32) {
    streams[stream]?.output += bytes
    session?.resume(stream)
  }

  func end(_ stream: Int32, _ trailers: HeaderBlock?) {
    streams[stream]?.trailers = trailers
    streams[stream]?.isComplete = true
    session?.resume(stream)
  }

  func reset(_ stream: Int32, _ code: HTTP2ErrorCode) {
    session?.reset(stream, code)
  }

  /// Announces that no further request is taken.
  func shutDown() {
    session?.shutDown()
  }
}

extension HTTP2ServerConnection: HTTP2SessionOwner {
  func sectionBegins(of stream: Int32) {
    if streams[stream] == nil { streams[stream] = Stream() }
  }

  func received(
    _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, of stream: Int32
  ) -> Bool {
    streams[stream]?.fields.append(
      (String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)))
    return true
  }

  func sectionEnds(of stream: Int32, isEnd: Bool) {
    if isEnd { contentEnds(of: stream) }
  }

  func received(_ content: UnsafeRawBufferPointer, of stream: Int32) {
    session?.consumeOfConnection(content.count)
    session?.consume(content.count, of: stream)
    guard let size = streams[stream]?.body.count, size + content.count <= Self.maximumBody else {
      session?.reset(stream, .cancel)
      return
    }
    streams[stream]?.body += content
  }

  func contentEnds(of stream: Int32) {
    guard let request = streams[stream], request.exchange == nil else { return }
    let exchange = HTTP2Exchange(
      server, socket, stream, fields: request.fields, body: request.body)
    streams[stream]?.exchange = exchange
    arrived.append(exchange)
  }

  func content(
    of stream: Int32, into buffer: UnsafeMutableRawBufferPointer
  ) -> HTTP2Session.Piece {
    guard let answer = streams[stream] else { return .last(0) }
    let count = min(answer.output.count - answer.sent, buffer.count)
    buffer.copyBytes(from: answer.output[answer.sent..<(answer.sent + count)])
    streams[stream]?.sent += count
    if answer.sent + count < answer.output.count { return .bytes(count) }
    streams[stream]?.output = []
    streams[stream]?.sent = 0
    guard answer.isComplete else { return count > 0 ? .bytes(count) : .wait }
    return answer.trailers.map { .lastBeforeTrailers(count, $0) } ?? .last(count)
  }

  func closed(_ stream: Int32, _ code: HTTP2ErrorCode, isRemote: Bool) {
    if let exchange = streams.removeValue(forKey: stream)?.exchange { closed.append(exchange) }
  }

  func hasOpened(_ stream: Int32) {}
  func notOpened(_ stream: Int32, isTooLarge: Bool) {}
  func receivedSettings() {}
  func receivedGoAway(_ code: HTTP2ErrorCode, debug: UnsafeRawBufferPointer) {}
  func receivedPong() {}
  func receivedInvalid(_ reason: String, of stream: Int32) {}
}
