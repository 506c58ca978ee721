import Basics
import CCurl
import CTLS
import Glibc

/// A connection that libcurl has opened and handed over: to the server itself, behind any proxy.
///
/// Nothing was sent to the server yet. If the URL is `https`, the TLS handshake is still to come:
/// with a context in which libcurl has set the authorities, the client certificate and the oldest
/// version, so that the rules of trust are the same as for a request.
package final class OpenedConnection: @unchecked Sendable {
  /// The socket, which does not block; it is closed with this object.
  package let socket: Int32
  /// The `SSL_CTX` for the handshake, freed with this object; `nil` without TLS.
  package let context: OpaquePointer?

  init(socket: Int32, context: OpaquePointer?) {
    self.socket = socket
    self.context = context
  }

  deinit {
    close(socket)
    SSL_CTX_free(context)
  }
}

/// The opening of a connection that libcurl does not keep; its transfer's callbacks use it.
///
/// They run on the thread of libcurl, and the result is read by another one.
final class ConnectionOpening: Sendable {
  private struct State {
    /// The sockets with which libcurl has tried to reach the server or the proxy.
    var sockets: [Int32] = []
    var connection: OpenedConnection?
    var isProxySecure = false
  }

  private let state = Locked(State())

  var connection: OpenedConnection? { state.withLock(\.connection) }
  /// Whether the proxy itself asks for TLS: then the connection cannot be handed over.
  var isProxySecure: Bool { state.withLock(\.isProxySecure) }

  /// The newest version of TLS that libcurl is told to use for a proxy.
  ///
  /// Only a proxy's context has such a bound, which tells the two contexts apart.
  static let proxyMark = TLS1_2_VERSION

  func tries(_ socket: Int32) {
    state.withLock { $0.sockets.append(socket) }
  }

  /// Takes a copy of the socket; libcurl then closes its own.
  func take(_ socket: Int32, context: OpaquePointer? = nil) {
    let copy = fcntl(socket, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { return }
    if let context { SSL_CTX_up_ref(context) }
    let connection = OpenedConnection(socket: copy, context: context)
    state.withLock { $0.connection = connection }
  }

  /// Takes the socket with the context that libcurl has made for the handshake.
  ///
  /// libcurl does not name the socket at this moment. It is the one that is connected and has the
  /// local port that libcurl names; a second attempt may be connected too.
  func take(_ context: OpaquePointer, of handle: CurlHandle) {
    guard sq_ssl_ctx_newest_version(context) != Self.proxyMark else {
      state.withLock { $0.isProxySecure = true }
      return
    }
    sq_ssl_ctx_forget_sessions(context)
    let port = sq_get_long(handle.easy, CURLINFO_LOCAL_PORT)
    let connected = state.withLock(\.sockets).last {
      Self.port($0, peer: true) != nil && Self.port($0, peer: false) == port
    }
    guard let connected, handle.setAuthorities(of: context) else { return }
    take(connected, context: context)
  }

  /// The port of a socket's own end or of the other end; `nil` if there is none.
  private static func port(_ socket: Int32, peer: Bool) -> Int? {
    var address = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutableBytes(of: &address) { bytes in
      guard let start = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
        (peer ? getpeername(socket, start, &size) : getsockname(socket, start, &size)) == 0
      else { return nil }
      // The port is at the same place in IPv4's and IPv6's addresses, in network order.
      return Int(bytes[2]) << 8 | Int(bytes[3])
    }
  }
}
