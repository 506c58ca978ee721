import CSQCurl
import CSQTLS
package import SQFoundation

extension CurlTransport {
  /// Opens a connection to a server for a protocol other than HTTP/1.1, without sending a request.
  ///
  /// libcurl resolves the host, tries all of its addresses, and connects through any proxy. It
  /// would also make the TLS handshake, but if the handshake selected HTTP/2, libcurl would start
  /// its own HTTP/2 session on the connection (7.88 as well as 8.x). So libcurl is stopped before
  /// the handshake, when it has prepared the TLS context.
  ///
  /// - Throws: ``SQOAuthError`` with one of the codes `malformedRequest`, `invalidConfiguration`,
  ///   `connectionFailed`, `tlsFailed`, `requestTimedOut`, `cancelled`.
  package func openConnection(
    to url: URL, within limit: Duration
  ) async throws(SQOAuthError) -> OpenedConnection {
    var request = WebRequest(url: url)
    request.timeout = nil
    request.idleTimeout = nil
    request.limits.connection = limit
    let target = try RequestTarget(url)
    let loop = try CurlEventLoop.shared.get()
    let handle = try CurlHandle(configuration, loop)
    let opening = ConnectionOpening()
    let transfer = CurlTransfer(request, target, handle, opening: opening, lead: lead)
    try handle.prepare(transfer, configuration)
    guard ReadingTurn.usesOurOpenSSL, handle.setOpening() else {
      throw SQOAuthError(
        .invalidConfiguration,
        "this libcurl cannot open a connection for a protocol other than HTTP/1.1: it has "
          + "\(ReadingTurn.library), and this program has "
          + "\(String(cString: OpenSSL_version(OPENSSL_VERSION))); install a libcurl with that "
          + "OpenSSL")
    }
    await run(transfer, loop)
    if opening.isProxySecure {
      throw SQOAuthError(
        .invalidConfiguration,
        "the proxy towards \(target.authority) is reached over https, and such a proxy cannot "
          + "pass on calls; use a proxy that is reached over http")
    }
    if let failure = transfer.failure { throw failure }
    guard let connection = opening.connection else {
      throw SQOAuthError(
        .connectionFailed, "libcurl did not hand over the connection to \(target.authority)")
    }
    return connection
  }
}

extension CurlHandle {
  /// Sets the options for a connection without a request, and returns whether this succeeded.
  fileprivate func setOpening() -> Bool {
    set(CURLOPT_CONNECT_ONLY, 1) && set(CURLOPT_HTTPPROXYTUNNEL, 1)
      && set(CURLOPT_HTTP_VERSION, sq_http_1_1)
      && set(CURLOPT_PROXY_SSLVERSION, sq_tls_1_2_at_most)
      && sq_set_context_callback(easy, curlHasContext) == CURLE_OK
      && set(CURLOPT_SSL_CTX_DATA, Unmanaged.passUnretained(self).toOpaque())
  }
}

/// Called by libcurl with the context that it has prepared for the next TLS handshake.
private func curlHasContext(
  _ easy: UnsafeMutableRawPointer?, _ context: UnsafeMutableRawPointer?,
  _ handle: UnsafeMutableRawPointer?
) -> CURLcode {
  guard let context, let handle else { return CURLE_ABORTED_BY_CALLBACK }
  let owner = Unmanaged<CurlHandle>.fromOpaque(handle).takeUnretainedValue()
  owner.transfer?.opening?.take(OpaquePointer(context), of: owner)
  return CURLE_ABORTED_BY_CALLBACK
}
