/// A set of events of a socket, either to wait for or as reported by the system.
///
/// The values are those of poll(2), which epoll shares; ``once`` has a value of epoll alone.
package struct SocketEvents: OptionSet, Sendable, Hashable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// Bytes, a connection or the end of the stream can be read.
  package static let readable = Self(rawValue: 0x01)
  /// Bytes can be sent.
  package static let writable = Self(rawValue: 0x04)
  /// The other side is gone, or the socket has failed; reported even if it was not requested.
  package static let ended = Self(rawValue: 0x10)
  /// Stops watching the socket after its next event.
  package static let once = Self(rawValue: 1 << 30)

  /// Creates the set from the events of poll(2) or epoll; several of these events mean ``ended``.
  init(reported bits: UInt32) {
    let end: UInt32 = bits & 0x38 == 0 ? 0 : Self.ended.rawValue
    rawValue = bits & (Self.readable.rawValue | Self.writable.rawValue) | end
  }
}

/// A socket that has events.
package struct ReadySocket: Sendable, Hashable {
  package let socket: Int32
  package let events: SocketEvents

  package init(_ socket: Int32, _ events: SocketEvents) {
    self.socket = socket
    self.events = events
  }
}
