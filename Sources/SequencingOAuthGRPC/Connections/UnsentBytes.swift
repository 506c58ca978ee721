import HTTP2

/// The bytes of one connection that the network has not taken yet.
struct UnsentBytes {
  private var bytes: [UInt8] = []
  /// How many of the bytes the network has taken.
  private var sent = 0

  /// How many bytes are collected before they are sent.
  private static let size = 64 * 1024

  var isEmpty: Bool { sent == bytes.count }

  /// Takes what a session has to say, once the network has all that was taken before.
  ///
  /// Returns the reason if the connection cannot go on.
  mutating func refill(from session: HTTP2Session?, _ tls: TLSLayer?) -> String? {
    guard isEmpty else { return nil }
    bytes.removeAll(keepingCapacity: true)
    sent = 0
    do throws(HTTP2Session.Failure) {
      guard let tls else {
        try session?.takeOutput(into: &bytes, limit: Self.size)
        return nil
      }
      var plain: [UInt8] = []
      try session?.takeOutput(into: &plain, limit: Self.size)
      guard plain.withUnsafeBytes(tls.write) else { return "OpenSSL cannot encrypt any more" }
      tls.takeOutput(into: &bytes)
      return nil
    } catch {
      return error.reason
    }
  }

  /// Sends the bytes, as far as the network takes them.
  mutating func send(on wire: any Wire) -> SocketIO.Outcome {
    let outcome = bytes.withUnsafeBytes { wire.send(UnsafeRawBufferPointer(rebasing: $0[sent...])) }
    if case .bytes(let count) = outcome { sent += count }
    return outcome
  }
}
