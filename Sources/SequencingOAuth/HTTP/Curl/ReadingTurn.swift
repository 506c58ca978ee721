import CSQCurl
import CSQTLS

/// A limit on the bytes that libcurl reads over TLS in one call.
///
/// Over HTTP/2, libcurl reads a connection until there is nothing left to read. A server that sends
/// frames faster than nghttp2 reads them would occupy the event loop completely. So each time
/// libcurl is called, its sockets seem to be empty after ``size`` bytes. Then the event loop can
/// serve other connections.
///
/// Everything here runs under the event loop's lock, except ``limit(_:)``.
enum ReadingTurn {
  /// The number of bytes that libcurl may read from the network in one call.
  static let size = 128 * 1024
  nonisolated(unsafe) private static var left = size

  /// Runs a call of libcurl; returns whether there may be more to read.
  static func take(_ call: () -> Void) -> Bool {
    left = size
    call()
    return left <= 0
  }

  /// Applies the limit to the connections of a handle, if libcurl uses this program's OpenSSL.
  static func limit(_ handle: CurlHandle) {
    guard usesOurOpenSSL else { return }
    sq_set_context_callback(handle.easy, prepareContext)
  }

  /// Applies the limit to the connections of an OpenSSL context, an `SSL_CTX`.
  ///
  /// It also makes a read fail if TCP ends before TLS: anyone on the network can end TCP, and could
  /// cut off a response that has no length of its own (RFC 9112, section 9.8).
  static func prepare(_ context: OpaquePointer) {
    sq_ssl_ctx_log_no_keys(context)
    sq_ssl_ctx_expect_close_notify(context)
    SSL_CTX_set_info_callback(context, watchHandshake)
  }

  /// libcurl's name and version of its TLS library, such as "OpenSSL/3.0.19".
  static let library = sq_tls_library().map { String(cString: $0) } ?? "no TLS library"

  /// Whether libcurl uses the OpenSSL that this program is linked to.
  ///
  /// A process can load two major versions of OpenSSL. The functions of one must not get the
  /// objects of the other.
  static let usesOurOpenSSL = isOpenSSL(library, major: OpenSSL_version_num() >> 28)

  /// Returns whether libcurl's TLS library is an OpenSSL of a major version.
  ///
  /// A library in parentheses is not in use.
  static func isOpenSSL(_ library: String, major: UInt) -> Bool {
    library.split(separator: " ").contains { $0.hasPrefix("OpenSSL/\(major).") }
  }

  fileprivate static func mayRead() -> Bool { left > 0 }

  fileprivate static func hasRead(_ count: Int) {
    left -= count
  }
}

private func prepareContext(
  _ easy: UnsafeMutableRawPointer?, _ context: UnsafeMutableRawPointer?,
  _ unused: UnsafeMutableRawPointer?
) -> CURLcode {
  if let context { ReadingTurn.prepare(OpaquePointer(context)) }
  return CURLE_OK
}

/// Called by OpenSSL when a handshake starts; by then, the connection has the BIO that it reads.
private func watchHandshake(_ tls: OpaquePointer?, _ event: Int32, _ value: Int32) {
  guard event & SSL_CB_HANDSHAKE_START != 0, let source = SSL_get_rbio(tls) else { return }
  BIO_set_callback_ex(source, watchReading)
}

/// Called by OpenSSL before and after it reads from the network; a negative result makes it wait.
private func watchReading(
  _ source: OpaquePointer?, _ event: Int32, _ bytes: UnsafePointer<CChar>?, _ room: Int,
  _ number: Int32, _ longNumber: Int, _ result: Int32, _ count: UnsafeMutablePointer<Int>?
) -> Int {
  switch event {
  case BIO_CB_READ where !ReadingTurn.mayRead(): return sq_bio_wait(source)
  case BIO_CB_READ | BIO_CB_RETURN:
    if result > 0, let count { ReadingTurn.hasRead(count.pointee) }
    // TCP ended before TLS did. libcurl's BIO does not report this end to OpenSSL, so it is
    // reported as an error.
    return result == 0 && sq_bio_should_retry(source) == 0 ? -1 : Int(result)
  case _ where event & BIO_CB_RETURN != 0: return Int(result)
  default: return 1
  }
}
