import CSQCurl
import CSQTLS
import SQLibC

/// An open connection to a server, made by libcurl, directly or through a proxy.
///
/// Nothing has been sent to the server yet. If the URL is `https`, the caller makes the TLS
/// handshake, with a context that has the authorities, the client certificate and the minimum
/// version of the client's configuration. So the connection has the same rules of trust as a
/// request.
package final class OpenedConnection: @unchecked Sendable {
  /// The socket, which is non-blocking and is closed with this object.
  package let socket: Int32
  /// OpenSSL's context for the handshake, an `SSL_CTX`; `nil` without TLS.
  ///
  /// It is freed with this object.
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

/// The state of a connection that is being opened for a protocol other than HTTP/1.1.
///
/// The callbacks of the transfer that opens the connection use this object. libcurl does not keep
/// the connection.
final class ConnectionOpening {
  /// The sockets that libcurl has used to try to reach the server or the proxy.
  private var attempts: [Attempt] = []
  private(set) var connection: OpenedConnection?
  /// The reason why the connection could not be taken over: libcurl's code for it, and an `errno`.
  private(set) var failure: (code: CURLcode, errno: Int32)?
  /// Whether the proxy itself requires TLS, so that the connection cannot be handed over.
  private(set) var isProxySecure = false

  /// The newest version of TLS that libcurl may use for a proxy.
  ///
  /// Only a proxy's context has such a limit, which distinguishes it from the server's context.
  static let proxyMark = TLS1_2_VERSION

  func tries(_ socket: Int32) {
    attempts.append(Attempt(socket))
  }

  /// Stores a copy of the socket, because libcurl closes the original afterwards.
  func take(_ socket: Int32, context: OpaquePointer? = nil) {
    let copy = fcntl(socket, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
    guard copy >= 0 else {
      failure = (CURLE_COULDNT_CONNECT, errno)
      return
    }
    if let context { SSL_CTX_up_ref(context) }
    connection = OpenedConnection(socket: copy, context: context)
  }

  /// Stores the socket together with the context that libcurl has created for the handshake.
  ///
  /// At this moment, libcurl does not name the socket, so it is found by other properties: it is
  /// open and connected, and has the local port that libcurl names. libcurl 8.10 and later name no
  /// port before the handshake, but have already closed the sockets of their other attempts.
  func take(_ context: OpaquePointer, of handle: CurlHandle) {
    guard sq_ssl_ctx_newest_version(context) != Self.proxyMark else {
      isProxySecure = true
      return
    }
    sq_ssl_ctx_log_no_keys(context)
    sq_ssl_ctx_forget_sessions(context)
    let port = sq_get_long(handle.easy, CURLINFO_LOCAL_PORT)
    let connected = attempts.last {
      $0.isOpen && $0.port(peer: true) != nil && (port <= 0 || $0.port(peer: false) == port)
    }
    guard let connected else { return }
    guard handle.setAuthorities(of: context) else {
      failure = (CURLE_SSL_CACERT_BADFILE, 0)
      return
    }
    take(connected.socket, context: context)
  }
}

/// A socket with which libcurl tries to reach a server.
private struct Attempt {
  let socket: Int32
  /// The socket's inode number, which no later socket with the same descriptor has.
  private let identity: ino_t?

  init(_ socket: Int32) {
    self.socket = socket
    identity = Self.identity(of: socket)
  }

  /// Whether libcurl has not closed the socket yet.
  var isOpen: Bool { identity != nil && Self.identity(of: socket) == identity }

  private static func identity(of socket: Int32) -> ino_t? {
    var status = stat()
    return fstat(socket, &status) == 0 ? status.st_ino : nil
  }

  /// Returns the port of the socket's local or remote end, or `nil` if there is none.
  func port(peer: Bool) -> Int? {
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
