@testable import LoopbackSupport

/// The server side of HTTP/2 on a ``RawConnection``, with only what the tests need.
///
/// - SeeAlso: RFC 9113
final class HTTP2Connection {
  enum FrameType: UInt8 {
    case data = 0
    case headers = 1
    case reset = 3
    case settings = 4
    case ping = 6
    case goAway = 7
    case windowUpdate = 8
    /// A type that no standard defines.
    case unknown = 99
  }

  private static let prefaceLength = 24
  private let connection: RawConnection
  private var received: [UInt8] = []

  /// Reads the client's preface and sends the server's, or returns `nil` if the client disconnects.
  init?(_ connection: RawConnection) {
    self.connection = connection
    guard take(Self.prefaceLength) != nil else { return nil }
    connection.write(Self.frame(.settings))
  }

  /// Skips other frames and returns the next request's stream, or `nil` if the client disconnects.
  func readRequest() -> UInt8? {
    while let head = take(9), take(Int(head[1]) << 8 | Int(head[2])) != nil {
      switch FrameType(rawValue: head[3]) {
      case .headers?: return head[8]
      case .settings? where head[4] & 1 == 0: connection.write(Self.frame(.settings, flags: 1))
      default: break
      }
    }
    return nil
  }

  /// Answers with status 200 and content in pieces, all in one write.
  func answer(_ stream: UInt8, _ pieces: [[UInt8]] = []) {
    var bytes = Self.frame(.headers, flags: pieces.isEmpty ? 5 : 4, stream: stream, [0x88])
    for (index, piece) in pieces.enumerated() {
      bytes += Self.frame(.data, flags: index == pieces.count - 1 ? 1 : 0, stream: stream, piece)
    }
    connection.write(bytes)
  }

  /// Ends a stream without an answer, with an error code (section 7).
  func reset(_ stream: UInt8, because code: UInt8) {
    connection.write(Self.frame(.reset, stream: stream, [0, 0, 0, code]))
  }

  /// Sends a PING, which the client must answer (section 6.7).
  func ping() {
    connection.write(Self.frame(.ping, [UInt8](repeating: 0, count: 8)))
  }

  /// Sends the head of an answer with status 200.
  ///
  /// The content follows later.
  func begin(_ stream: UInt8) {
    connection.write(Self.frame(.headers, flags: 4, stream: stream, [0x88]))
  }

  /// Repeats a frame until the client disconnects.
  func flood(_ type: FrameType, flags: UInt8, stream: UInt8, _ payload: [UInt8]) {
    let frame = Self.frame(type, flags: flags, stream: stream, payload)
    let piece = [UInt8](repeatElement(frame, count: 65_536 / frame.count).joined())
    while connection.write(piece) {}
  }

  /// Sends GOAWAY: the server will answer no stream after `stream` (section 6.8).
  func goAway(last stream: UInt8) {
    connection.write(Self.frame(.goAway, [0, 0, 0, stream, 0, 0, 0, 0]))
  }

  private func take(_ count: Int) -> [UInt8]? {
    while received.count < count {
      let more = connection.read()
      if more.isEmpty { return nil }
      received += more
    }
    defer { received.removeFirst(count) }
    return Array(received.prefix(count))
  }

  /// Returns a frame (section 4.1).
  private static func frame(
    _ type: FrameType, flags: UInt8 = 0, stream: UInt8 = 0, _ payload: [UInt8] = []
  ) -> [UInt8] {
    [0, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF), type.rawValue, flags, 0, 0, 0]
      + [stream] + payload
  }
}
