import CSQSockets
import SQBasics
import SQLibC

/// The socket functions of this module, which hide the differences between operating systems.
///
/// Every descriptor is closed on `exec` and has a number above those of the standard streams.
package enum Sockets {
  #if canImport(Darwin)
    private static let streamType = SOCK_STREAM
  #else
    private static let streamType = Int32(SOCK_STREAM.rawValue)
  #endif

  /// Opens a non-blocking socket that listens on a loopback address; returns the socket and its
  /// port.
  package static func listen(
    _ address: LoopbackAddress, port: UInt16
  ) throws(LoopbackError) -> (socket: Int32, port: UInt16) {
    let socket = try stream(address)
    do throws(LoopbackError) {
      try setUp(socket, address)
      let isBound = SocketAddress(address, port: port).withPointer { bind(socket, $0, $1) == 0 }
      guard isBound else { throw .failure(errno, port: port) }
      guard SQLibC.listen(socket, 128) == 0 else { throw .failure(errno, port: port) }
      setNonBlocking(socket)
      return (socket, try SocketAddress.localPort(of: socket))
    } catch {
      close(socket)
      throw error
    }
  }

  /// Opens a blocking socket that is not connected yet.
  package static func stream(_ address: LoopbackAddress) throws(LoopbackError) -> Int32 {
    let socket = DescriptorNumber.aboveStandard(
      sq_socket(address == .ipv4 ? AF_INET : AF_INET6, streamType, 0))
    guard socket >= 0 else { throw .failure(errno, port: 0) }
    return socket
  }

  private static func setUp(_ socket: Int32, _ address: LoopbackAddress) throws(LoopbackError) {
    #if !canImport(Darwin)
      // On Linux, this option ignores connections in TIME_WAIT and never allows a second listener.
      // On BSD, it would let another program listen on the same port.
      set(socket, SOL_SOCKET, SO_REUSEADDR)
    #endif
    if address == .ipv6 { set(socket, Int32(IPPROTO_IPV6), IPV6_V6ONLY) }
    // Accepted connections inherit this option. A response is one write, or two with a large body,
    // so Nagle's algorithm would gain nothing.
    set(socket, Int32(IPPROTO_TCP), TCP_NODELAY)
  }

  /// Accepts the next connection as non-blocking; returns `nil` if it cannot accept one.
  package static func accept(_ listener: Int32) -> (socket: Int32, peerPort: UInt16)? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let accepted = withUnsafeMutablePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        #if canImport(Darwin)
          SQLibC.accept(listener, address, &length)
        #else
          accept4(
            listener, address, &length, Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue))
        #endif
      }
    }
    let socket = DescriptorNumber.aboveStandard(accepted)
    guard socket >= 0 else { return nil }
    #if canImport(Darwin)
      _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
      set(socket, SOL_SOCKET, SO_NOSIGPIPE)
      setNonBlocking(socket)
    #endif
    return (socket, SocketAddress.port(of: storage))
  }

  /// Whether ``accept(_:)`` that has just failed may succeed for the next connection.
  ///
  /// After any other error, such as no free descriptor or the refusal of a security module, the
  /// listener stays readable, and a loop that tries again at once would spin.
  package static var acceptsAtOnce: Bool {
    errno == EAGAIN || errno == EINTR || errno == ECONNABORTED
  }

  package static func close(_ descriptor: Int32) {
    _ = SQLibC.close(descriptor)
  }

  /// Closes a listener and frees its port at once.
  ///
  /// A child process between `fork` and `exec` has a copy of the descriptor, which would continue
  /// to listen after `close` alone.
  package static func closeListener(_ listener: Int32) {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }

  /// Tells the client that no more bytes will come; reading from it is still possible.
  package static func finishSending(_ socket: Int32) {
    shutdown(socket, Int32(SHUT_WR))
  }

  /// Closes a socket with a TCP reset; bytes that the client has not acknowledged are lost.
  static func reset(_ socket: Int32) {
    var linger = linger(l_onoff: 1, l_linger: 0)
    let size = socklen_t(MemoryLayout.size(ofValue: linger))
    setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, size)
    close(socket)
  }

  package static func set(_ socket: Int32, _ level: Int32, _ option: Int32) {
    var value: Int32 = 1
    setsockopt(socket, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
  }

  static func setNonBlocking(_ descriptor: Int32) {
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
  }
}

extension LoopbackError {
  package static let malformedAnswer = Self.system(errno: EBADMSG)
  /// An error: the system cannot watch another socket.
  package static let unwatched = Self.system(errno: ENOMEM)

  static func failure(_ code: Int32, port: UInt16) -> Self {
    switch code {
    case EADDRINUSE: .portInUse(port)
    case EADDRNOTAVAIL, EAFNOSUPPORT: .addressUnavailable
    default: .system(errno: code)
    }
  }
}
