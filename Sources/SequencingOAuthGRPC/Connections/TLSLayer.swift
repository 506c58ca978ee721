import CSQTLS
import SQBasics
import SequencingOAuth

/// The TLS side of one connection: OpenSSL encrypts and decrypts the bytes of HTTP/2.
///
/// It reads and writes memory, not sockets. The context comes from libcurl, which sets the trusted
/// certificates; this class adds the server's name and selects HTTP/2.
final class TLSLayer {
  private let tls: OpaquePointer
  private let incoming: OpaquePointer
  private let outgoing: OpaquePointer
  private let authority: String

  /// The protocol list for ALPN: `h2` after its length (RFC 9113, section 3.2; RFC 7301, section
  /// 3.1).
  private static let protocols: [UInt8] = [2, 0x68, 0x32]

  /// Creates the TLS side of a connection to a host.
  ///
  /// - Throws: `connectionFailed` if OpenSSL has no memory or cannot check the host's name.
  init(context: OpaquePointer, host: String, authority: String) throws(SQOAuthError) {
    guard let tls = SSL_new(context), let incoming = BIO_new(BIO_s_mem()),
      let outgoing = BIO_new(BIO_s_mem())
    else { throw SQOAuthError(.connectionFailed, "OpenSSL has no memory for a connection") }
    SSL_set_bio(tls, incoming, outgoing)
    SSL_set_connect_state(tls)
    self.tls = tls
    self.incoming = incoming
    self.outgoing = outgoing
    self.authority = authority
    // An IP address is not a host name: OpenSSL checks it separately, and SNI must not contain it.
    let isAddress = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), host) == 1
    let isNamed =
      isAddress || SSL_set1_host(tls, host) == 1 && sq_ssl_set_server_name(tls, host) == 1
    SSL_set_hostflags(tls, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
    SSL_set_verify(tls, SSL_VERIFY_PEER, nil)
    // RFC 9113, section 9.2.1.
    sq_ssl_forbid_renegotiation(tls)
    guard isNamed,
      SSL_set_alpn_protos(tls, Self.protocols, UInt32(Self.protocols.count)) == 0
    else {
      throw SQOAuthError(
        .connectionFailed,
        "OpenSSL cannot check the host name in \(authority); correct the server's URL")
    }
  }

  deinit {
    SSL_free(tls)
  }

  // MARK: The handshake

  /// Continues the handshake; returns whether it is complete.
  ///
  /// - Throws: `tlsFailed` if the server is not trusted, `invalidResponse` if it does not choose
  ///   HTTP/2.
  func advanceHandshake() throws(SQOAuthError) -> Bool {
    if SSL_is_init_finished(tls) == 1 { return true }
    let (code, reason) = withCleanErrors { SSL_do_handshake(tls) }
    if code == 1 {
      try checkProtocol()
      return true
    }
    if isWaiting(reason) { return false }
    throw failure(reason ?? "the server ended the handshake")
  }

  /// Returns whether a step only needs more bytes; if not, the step has failed.
  ///
  /// After bytes that are not TLS, OpenSSL also asks for more bytes, but gives a reason.
  private func isWaiting(_ reason: String?) -> Bool {
    reason == nil && SSL_want(tls) == SSL_READING
  }

  private func checkProtocol() throws(SQOAuthError) {
    var name: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    SSL_get0_alpn_selected(tls, &name, &count)
    let chosen = UnsafeBufferPointer(start: name, count: Int(count))
    guard chosen.elementsEqual(Self.protocols.dropFirst()) else {
      throw SQOAuthError(.invalidResponse, "\(authority) does not speak HTTP/2")
    }
  }

  /// Returns the error of a failed handshake: an untrusted certificate, or else the given reason.
  func failure(_ reason: String) -> SQOAuthError {
    let verification = SSL_get_verify_result(tls)
    if verification != X509_V_OK {
      let text = String(cString: X509_verify_cert_error_string(verification))
      return SQOAuthError(
        .tlsFailed,
        "no trusted TLS connection to \(authority): \(text); check the server's certificate and "
          + "the authorities that the client trusts")
    }
    let advice =
      reason.contains("wrong version number")
      ? "perhaps the server speaks http there, and not https"
      : "check which versions of TLS and which certificates the server accepts"
    return SQOAuthError(
      .tlsFailed, "no usable TLS connection to \(authority): \(reason); \(advice)")
  }

  // MARK: Bytes

  /// Adds encrypted bytes that arrived from the network.
  func feed(_ bytes: UnsafeRawBufferPointer) {
    BIO_write(incoming, bytes.baseAddress, Int32(bytes.count))
  }

  /// The result of an attempt to read.
  enum Reading {
    case bytes(Int)
    case wait
    /// The server ended the connection or sent invalid TLS, with OpenSSL's reason if it has one.
    case end(String?)
  }

  /// Decrypts bytes into a buffer.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Reading {
    let (count, reason) = withCleanErrors {
      SSL_read(tls, buffer.baseAddress, Int32(clamping: buffer.count))
    }
    if count > 0 { return .bytes(Int(count)) }
    return isWaiting(reason) ? .wait : .end(reason)
  }

  /// Encrypts bytes; call ``takeOutput(into:)`` to get the result.
  ///
  /// Returns `false` if the connection cannot be used any more.
  func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if bytes.isEmpty { return true }
    return withCleanErrors { SSL_write(tls, bytes.baseAddress, Int32(bytes.count)) }.code > 0
  }

  /// Appends the encrypted bytes that must be sent over the network.
  func takeOutput(into output: inout [UInt8]) {
    while case let count = sq_bio_pending(outgoing), count > 0 {
      let start = output.count
      output.append(contentsOf: repeatElement(0, count: count))
      _ = output.withUnsafeMutableBytes { bytes in
        BIO_read(outgoing, bytes.baseAddress.map { $0 + start }, Int32(count))
      }
    }
  }

  /// Runs an OpenSSL function; returns its code and, if it failed with an error, the reason.
  ///
  /// Errors that other code left in this thread's error queue do not count. They stay in the queue
  /// unless OpenSSL empties it.
  private func withCleanErrors(_ body: () -> Int32) -> (code: Int32, reason: String?) {
    let mark = sq_err_mark()
    defer { ERR_pop_to_mark() }
    let code = body()
    guard code <= 0, case let error = ERR_peek_last_error(), error != mark, error != 0 else {
      return (code, nil)
    }
    return (code, ERR_reason_error_string(error).map { String(cString: $0) } ?? "error \(error)")
  }
}
