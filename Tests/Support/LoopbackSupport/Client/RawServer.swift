import Foundation

@testable import SQBasics
@testable import SQLoopback

/// A listening socket whose connections a blocking closure serves, each on its own thread.
///
/// The closure can do what an HTTP server would never do or never allow: it can count bytes without
/// keeping them, close a kept connection in the middle of an answer, or send nothing at all.
final class RawServer: Sendable {
  let port: UInt16
  private let listener: Int32
  private let accepted = Locked(0)
  private let hasEnded = DispatchSemaphore(value: 0)

  /// Starts the server.
  ///
  /// Each connection is closed when the closure returns.
  init(_ serve: @escaping @Sendable (RawConnection) -> Void) throws {
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = listener
    let isListening = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, size) == 0 && listen(listener, 64) == 0
          && getsockname(listener, $0, &size) == 0
      }
    }
    guard isListening else { throw POSIXError(.EADDRNOTAVAIL) }
    port = UInt16(bigEndian: address.sin_port)
    Thread.detachNewThread { [self] in
      while true {
        // A process that another test starts at the same time must not inherit the connection, so
        // the system closes it on `exec` from the start. The socket is non-blocking at first, and
        // is made blocking for reading and writing.
        guard let (socket, _) = Sockets.accept(listener) else { break }
        _ = fcntl(socket, F_SETFL, 0)
        accepted.withLock { $0 += 1 }
        Thread.detachNewThread {
          serve(RawConnection(socket: socket))
          close(socket)
        }
      }
      // Only this thread closes the listener, so no other socket can get its number while the
      // thread uses it.
      close(listener)
      hasEnded.signal()
    }
  }

  var connectionCount: Int { accepted.withLock { $0 } }

  /// Stops listening, and returns when the port is free.
  ///
  /// Call this only once.
  func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
    hasEnded.wait()
  }
}

/// A connection of a ``RawServer``.
struct RawConnection {
  let socket: Int32

  /// Waits for bytes, and returns at least one, or none at the end of the connection.
  func read(_ limit: Int = 65_536) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
      count = max(0, recv(socket, buffer.baseAddress, limit, 0))
    }
  }

  /// Returns a head with its empty line, and the bytes after it, or `nil` at the end.
  func readHead() -> (head: String, rest: [UInt8])? {
    var bytes: [UInt8] = []
    while true {
      let more = read()
      if more.isEmpty { return nil }
      bytes += more
      let text = String(decoding: bytes, as: UTF8.self)
      if let end = text.range(of: "\r\n\r\n") {
        return (String(text[..<end.upperBound]), Array(text[end.upperBound...].utf8))
      }
    }
  }

  /// Makes the kernel ask a client with a full receive buffer at least every second whether it has
  /// space again.
  ///
  /// By default the kernel doubles its wait after each question, so a lost answer would cause a
  /// long silence. Linux before 6.15 does not know this option, and ignores it.
  func probeOften() {
    var milliseconds: Int32 = 1000
    // TCP_RTO_MAX_MS
    let longestWait: Int32 = 44
    setsockopt(
      socket, Int32(IPPROTO_TCP), longestWait, &milliseconds,
      socklen_t(MemoryLayout<Int32>.size))
  }

  /// Returns once the client's system has received all sent bytes, or the connection has ended.
  func isDelivered() {
    var info = tcp_info()
    var size = socklen_t(MemoryLayout<tcp_info>.size)
    while getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, &info, &size) == 0,
      info.tcpi_unacked > 0
    { usleep(1000) }
  }

  func write(_ text: String) {
    write(Array(text.utf8))
  }

  /// Writes bytes, and returns `false` if the client has closed the connection.
  @discardableResult
  func write(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes {
      send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) == $0.count
    }
  }
}
