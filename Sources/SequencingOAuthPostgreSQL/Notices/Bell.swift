import Glibc

/// A pair of sockets that wakes a thread in `poll`.
final class Bell: Sendable {
  /// The socket to poll for reading.
  let socket: Int32
  private let end: Int32

  init() {
    var ends: [Int32] = [-1, -1]
    let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
    // If the system has no sockets, the thread still wakes for each comparison.
    socketpair(AF_UNIX, Int32(kind), 0, &ends)
    (socket, end) = (ends[0], ends[1])
  }

  deinit {
    close(socket)
    close(end)
  }

  func ring() {
    _ = write(end, "!", 1)
  }

  func silence() {
    var byte: UInt8 = 0
    while read(socket, &byte, 1) > 0 {}
  }
}
