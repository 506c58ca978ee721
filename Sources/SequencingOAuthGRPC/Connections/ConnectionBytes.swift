import SQHTTP2
import SequencingOAuth

/// The bytes of one connection: those of the network on one side, those of HTTP/2 on the other, and
/// TLS between them if the server's URL says so.
final class ConnectionBytes {
  private let wire: any Wire
  /// The TLS of the connection; `nil` in clear.
  let tls: TLSLayer?
  /// Room for bytes of the network, and for the same bytes without TLS.
  private let rooms: (UnsafeMutableRawBufferPointer, UnsafeMutableRawBufferPointer)
  /// What has arrived in clear, until it is read.
  private var arrived: UnsafeRawBufferPointer?
  /// What the network takes next, and how many bytes of it the network has taken.
  private var output: [UInt8] = []
  private var sent = 0
  /// Whether the network takes nothing at present; then the socket is watched for writing, too.
  private(set) var isBlocked = false

  /// How many bytes are received at once, and how many are collected before they are sent.
  static let capacity = 64 * 1024

  private static func allocateRoom() -> UnsafeMutableRawBufferPointer {
    .allocate(byteCount: capacity, alignment: 16)
  }

  init(_ wire: any Wire, host: String, authority: String) throws(SQOAuthError) {
    self.wire = wire
    if let context = wire.context {
      tls = try TLSLayer(context: context, host: host, authority: authority)
    } else {
      tls = nil
    }
    rooms = (Self.allocateRoom(), Self.allocateRoom())
  }

  deinit {
    rooms.0.deallocate()
    rooms.1.deallocate()
  }

  var socket: Int32 { wire.socket }

  // MARK: What comes

  /// Takes what has arrived from the network, so many bytes at most.
  func receive(_ limit: Int = capacity) -> SocketIO.Outcome {
    let outcome = wire.receive(into: UnsafeMutableRawBufferPointer(rebasing: rooms.0[..<limit]))
    guard case .bytes(let count) = outcome else { return outcome }
    let bytes = UnsafeRawBufferPointer(rebasing: rooms.0[..<count])
    if let tls { tls.feed(bytes) } else { arrived = bytes }
    return outcome
  }

  /// What came of an attempt to read.
  enum Reading {
    /// Bytes of HTTP/2, until the next attempt.
    case bytes(UnsafeRawBufferPointer)
    case wait
    /// TLS has ended, or the server sent what is not TLS.
    case end(TLSLayer, String?)
  }

  /// Reads bytes of HTTP/2 from what has arrived.
  func read() -> Reading {
    guard let tls else {
      defer { arrived = nil }
      return arrived.map { .bytes($0) } ?? .wait
    }
    return switch tls.read(into: rooms.1) {
    case .bytes(let count): .bytes(UnsafeRawBufferPointer(rebasing: rooms.1[..<count]))
    case .wait: .wait
    case .end(let reason): .end(tls, reason)
    }
  }

  // MARK: What goes

  /// Whether the network has all that was taken from the session.
  var isSent: Bool { sent == output.count }

  /// Takes what a session has to say, once the network has all that was taken before.
  ///
  /// Returns the reason if the connection cannot go on.
  func refill(from session: HTTP2Session?) -> String? {
    guard isSent else { return nil }
    output.removeAll(keepingCapacity: true)
    sent = 0
    do throws(HTTP2Session.Failure) {
      guard let tls else {
        try session?.takeOutput(into: &output, limit: Self.capacity)
        return nil
      }
      var plain: [UInt8] = []
      try session?.takeOutput(into: &plain, limit: Self.capacity)
      guard plain.withUnsafeBytes(tls.write) else { return "OpenSSL cannot encrypt any more" }
      tls.takeOutput(into: &output)
      return nil
    } catch {
      return error.reason
    }
  }

  /// Sends as much as the network takes.
  func send() -> SocketIO.Outcome {
    let outcome = output.withUnsafeBytes {
      wire.send(UnsafeRawBufferPointer(rebasing: $0[sent...]))
    }
    if case .bytes(let count) = outcome { sent += count }
    return outcome
  }

  /// Watches the socket for writing, or no longer.
  func watch(isBlocked: Bool) {
    guard isBlocked != self.isBlocked else { return }
    self.isBlocked = isBlocked
    wire.watch(isWriting: isBlocked)
  }
}
