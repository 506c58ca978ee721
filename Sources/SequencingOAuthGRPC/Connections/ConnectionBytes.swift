import SQBasics
import SQHTTP2
import SequencingOAuth

/// The byte stream of one connection: it moves bytes between the network and HTTP/2.
///
/// If the server's URL is `https`, TLS is in between.
final class ConnectionBytes {
  private let wire: any Wire
  /// The TLS side of the connection; `nil` without encryption.
  let tls: TLSLayer?
  /// The buffers for bytes from the network and for the decrypted bytes.
  private let rooms: (UnsafeMutableRawBufferPointer, UnsafeMutableRawBufferPointer)
  /// Bytes that arrived without encryption and are still unread.
  private var arrived: UnsafeRawBufferPointer?
  /// The bytes to send next; the first ``sent`` bytes of them are already sent.
  private var output: [UInt8] = []
  private var sent = 0
  /// Whether the socket's send buffer is full; the socket is then also watched for writing.
  private(set) var isBlocked = false

  /// The most bytes that are received at once or collected before they are sent.
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

  // MARK: Receiving

  /// Receives at most `limit` bytes from the network, for ``read()``.
  func receive(_ limit: Int = capacity) -> SocketIO.Outcome {
    let outcome = wire.receive(into: UnsafeMutableRawBufferPointer(rebasing: rooms.0[..<limit]))
    guard case .bytes(let count) = outcome else { return outcome }
    let bytes = UnsafeRawBufferPointer(rebasing: rooms.0[..<count])
    if let tls { tls.feed(bytes) } else { arrived = bytes }
    return outcome
  }

  /// The result of an attempt to read.
  enum Reading {
    /// Received bytes of HTTP/2; the buffer is valid until the next call of ``read()``.
    case bytes(UnsafeRawBufferPointer)
    case wait
    /// TLS ended or the server sent invalid TLS, with OpenSSL's reason if it has one.
    case end(TLSLayer, String?)
  }

  /// Reads bytes of HTTP/2 from the received bytes.
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

  // MARK: Sending

  /// Whether all bytes that were taken from the session are sent.
  var isSent: Bool { sent == output.count }

  /// Takes the session's next bytes to send, if all earlier bytes are sent.
  ///
  /// Returns the reason if the connection cannot continue.
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

  /// Sends as many bytes as the socket accepts.
  func send() -> SocketIO.Outcome {
    let outcome = output.withUnsafeBytes {
      wire.send(UnsafeRawBufferPointer(rebasing: $0[sent...]))
    }
    if case .bytes(let count) = outcome { sent += count }
    return outcome
  }

  /// Starts or stops watching the socket for writing.
  func watch(isBlocked: Bool) {
    guard isBlocked != self.isBlocked else { return }
    self.isBlocked = isBlocked
    wire.watch(isWriting: isBlocked)
  }
}
