import CSQNghttp2
import Foundation
import SQBasics
import TestSupport

/// An HTTP/2 client that writes its frames by hand, correct or not, and enlarges flow-control
/// windows only in ``grant(_:to:)``.
package final class RawHTTP2Client: Sendable {
  /// A frame of the server.
  package enum Frame: Sendable, Equatable {
    case headers(stream: UInt32, fields: [Field], isEnd: Bool)
    case data(stream: UInt32, content: [UInt8], isEnd: Bool)
    case reset(stream: UInt32, code: UInt32)
    case goAway(lastStream: UInt32, code: UInt32)
    case other(type: UInt8)
  }

  package struct Field: Sendable, Equatable, CustomStringConvertible {
    package let name: String
    package let value: String
    package var description: String { "\(name): \(value)" }
  }

  /// Everything that has come for a stream.
  package struct Answer: Sendable, Equatable {
    package var fields: [Field] = []
    package var content: [UInt8] = []
    /// The number of sections of fields: one for the head, and one for trailers.
    package var sections = 0
    /// Whether the server ended the stream normally.
    package var isComplete = false
    /// The error code with which the server reset the stream.
    package var resetCode: UInt32?

    /// Returns the value of the first field with a name.
    package subscript(name: String) -> String? { fields.first { $0.name == name }?.value }
  }

  /// A socket that stays open while the client or its thread uses it.
  private final class Socket: Sendable {
    let descriptor: Int32

    init(_ descriptor: Int32) {
      self.descriptor = descriptor
    }

    deinit {
      close(descriptor)
    }
  }

  private final class Record: Sendable {
    struct State {
      var frames: [Frame] = []
      var hasEnded = false
    }

    let state = Locked(State())
  }

  /// The client's first bytes: the preface, and an empty SETTINGS frame.
  package static let greeting = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + frame(4, 0, 0, [])

  private let socket: Socket
  private let record = Record()

  /// Connects to a port of 127.0.0.1, and sends the greeting unless `greets` is `false`.
  package init(port: UInt16, greets: Bool = true) throws {
    let socket = Socket(
      Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let isConnected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket.descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    guard isConnected else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    self.socket = socket
    // The thread ends when the server, or `deinit`, ends the connection.
    Thread.detachNewThread { [record] in Self.read(socket, record) }
    if greets { send(Self.greeting) }
  }

  deinit {
    leave()
  }

  // MARK: Sending

  /// Returns the bytes of a frame.
  package static func frame(
    _ type: UInt8, _ flags: UInt8, _ stream: UInt32, _ content: [UInt8]
  ) -> [UInt8] {
    let length = [16, 8, 0].map { UInt8(truncatingIfNeeded: content.count >> $0) }
    return length + [type, flags] + bytes(stream) + content
  }

  /// Returns fields in HPACK's form without any compression.
  package static func block(_ fields: [(String, String)]) -> [UInt8] {
    fields.flatMap { name, value in [0] + text(name) + text(value) }
  }

  private static func text(_ text: String) -> [UInt8] {
    let count = text.utf8.count
    guard count >= 127 else { return [UInt8(count)] + text.utf8 }
    var (length, rest): ([UInt8], Int) = ([127], count - 127)
    while rest >= 128 {
      length.append(UInt8(rest & 127) | 128)
      rest >>= 7
    }
    return length + [UInt8(rest)] + text.utf8
  }

  private static func bytes(_ number: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
  }

  package func send(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Glibc.send(socket.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  /// Opens a stream with fields.
  ///
  /// With `ends`, the request has no content.
  package func open(
    _ stream: UInt32, _ fields: [(String, String)], ends: Bool = false
  ) {
    send(Self.frame(1, ends ? 5 : 4, stream, Self.block(fields)))
  }

  /// Sends content of a stream, in frames of the largest size that every server accepts.
  package func write(_ content: [UInt8], to stream: UInt32, ends: Bool = true) {
    var rest = content[...]
    repeat {
      let piece = rest.prefix(16_384)
      rest = rest.dropFirst(piece.count)
      send(Self.frame(0, ends && rest.isEmpty ? 1 : 0, stream, Array(piece)))
    } while !rest.isEmpty
  }

  /// Enlarges the windows of a stream and of the connection by a number of bytes.
  package func grant(_ count: UInt32, to stream: UInt32) {
    for stream in [0, stream] { send(Self.frame(8, 0, stream, Self.bytes(count))) }
  }

  package func reset(_ stream: UInt32, code: UInt32 = 8) {
    send(Self.frame(3, 0, stream, Self.bytes(code)))
  }

  /// Ends the connection.
  package func leave() {
    shutdown(socket.descriptor, Int32(SHUT_RDWR))
  }

  // MARK: Receiving

  /// The frames that have come.
  package var frames: [Frame] { record.state.withLock(\.frames) }

  /// Whether the server has ended the connection.
  package var hasEnded: Bool { record.state.withLock(\.hasEnded) }

  /// Waits until the server ends the connection.
  package func ended() async throws {
    try await eventually("the server ends the connection") { hasEnded }
  }

  /// Waits for the server's GOAWAY frame, and returns its error code.
  package func goAway() async throws -> UInt32 {
    try await eventually("the server sends GOAWAY") {
      for case .goAway(_, let code) in frames { return code }
      return nil
    }
  }

  /// Returns everything that has come for a stream.
  package func answer(_ stream: UInt32) -> Answer {
    frames.reduce(into: Answer()) { answer, frame in
      switch frame {
      case .headers(stream, let fields, let isEnd):
        answer.fields += fields
        answer.sections += 1
        answer.isComplete = answer.isComplete || isEnd
      case .data(stream, let content, let isEnd):
        answer.content += content
        answer.isComplete = answer.isComplete || isEnd
      case .reset(stream, let code):
        answer.resetCode = code
      default: break
      }
    }
  }

  /// Waits until the server has ended or reset a stream.
  package func wholeAnswer(_ stream: UInt32) async throws -> Answer {
    try await eventually("stream \(stream) ends") {
      let answer = answer(stream)
      return answer.isComplete || answer.resetCode != nil ? answer : nil
    }
  }

  // MARK: The thread

  private static func read(_ socket: Socket, _ record: Record) {
    var inflater: OpaquePointer?
    nghttp2_hd_inflate_new(&inflater)
    defer {
      nghttp2_hd_inflate_del(inflater)
      record.state.withLock { $0.hasEnded = true }
    }
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(socket.descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { return }
      received += buffer[..<count]
      while let frame = takeFrame(&received, inflater) {
        record.state.withLock { $0.frames.append(frame) }
      }
    }
  }

  private static func takeFrame(
    _ received: inout [UInt8], _ inflater: OpaquePointer?
  ) -> Frame? {
    guard received.count >= 9 else { return nil }
    let length = received[..<3].reduce(0) { $0 << 8 | Int($1) }
    guard received.count >= 9 + length else { return nil }
    let (type, isEnd) = (received[3], received[4] & 1 != 0)
    let stream = number(received[5..<9])
    let content = Array(received[9..<(9 + length)])
    received.removeFirst(9 + length)
    switch type {
    case 0: return .data(stream: stream, content: content, isEnd: isEnd)
    case 1: return .headers(stream: stream, fields: fields(content, inflater), isEnd: isEnd)
    case 3: return .reset(stream: stream, code: number(content[...]))
    case 7: return .goAway(lastStream: number(content[..<4]), code: number(content[4..<8]))
    default: return .other(type: type)
    }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.reduce(0) { $0 << 8 | UInt32($1) }
  }

  private static func fields(_ block: [UInt8], _ inflater: OpaquePointer?) -> [Field] {
    var fields: [Field] = []
    block.withUnsafeBufferPointer { block in
      var offset = 0
      while true {
        var field = nghttp2_nv()
        var flags: Int32 = 0
        let count = nghttp2_hd_inflate_hd2(
          inflater, &field, &flags, block.baseAddress.map { $0 + offset }, block.count - offset, 1)
        guard count >= 0 else { return }
        offset += count
        if UInt32(flags) & NGHTTP2_HD_INFLATE_EMIT.rawValue != 0 {
          let name = UnsafeBufferPointer(start: field.name, count: field.namelen)
          let value = UnsafeBufferPointer(start: field.value, count: field.valuelen)
          fields.append(
            Field(
              name: String(decoding: name, as: UTF8.self),
              value: String(decoding: value, as: UTF8.self)))
        }
        if UInt32(flags) & NGHTTP2_HD_INFLATE_FINAL.rawValue != 0 {
          nghttp2_hd_inflate_end_headers(inflater)
          return
        }
      }
    }
    return fields
  }
}
