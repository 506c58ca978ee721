import CSQCurl
import SQBasics
import SQLibC

extension SQOAuthError {
  /// Creates the error for the caller from the code of a failed transfer.
  ///
  /// `detail` is the text of libcurl's error buffer, for errors of TLS, of HTTP/2 streams and of
  /// proxies. `errno` is the last error of the operating system, or 0. `wasSent` says whether
  /// libcurl began to send the request. `proxySetting` identifies the setting that names the proxy,
  /// if there is one.
  init(
    _ curl: CURLcode, authority: String, detail: String, errno: Int32, wasSent: Bool,
    proxyTrace: ProxyTrace = ProxyTrace(), proxySetting: @autoclosure () -> ProxySetting
  ) {
    let isTLS = Self.tlsCodes.contains(curl) || (curl == CURLE_RECV_ERROR && detail.contains("SSL"))
    // For an HTTP/2 stream, the detail contains the standard name of the server's error code.
    let hasDetail = (isTLS || curl == CURLE_HTTP2_STREAM) && !detail.isEmpty
    let cause = CurlError(curl, text: hasDetail ? detail : nil)
    if !wasSent, Self.openingCodes.contains(curl), Self.shortages.contains(errno) {
      self.init(
        .connectionFailed,
        "no connection to \(authority) could be opened, because the system gives this process no "
          + "more descriptors, threads or memory: \(CLibrary.meaning(of: errno))", cause: cause)
      return
    }
    if let error = Self.ofProxy(
      curl, authority: authority, detail: detail, cause: cause, trace: proxyTrace, isTLS: isTLS,
      setting: proxySetting)
    {
      self = error
      return
    }
    if curl == CURLE_RECV_ERROR, Self.endsOfTCP.contains(where: detail.contains) {
      self.init(
        .connectionFailed,
        "\(authority) ended the connection without TLS's close_notify, so its response is missing or "
          + "may be cut off", cause: cause)
      return
    }
    if isTLS {
      self.init(
        .tlsFailed,
        "no trusted TLS connection to \(authority): \(cause.text); \(Self.advice(curl, detail))",
        cause: cause)
      return
    }
    let isOfSystem = errno != 0 && Self.systemCodes.contains(curl)
    let because = isOfSystem ? " (\(CLibrary.meaning(of: errno)))" : ""
    let (code, reason) = Self.meaning(
      of: curl, authority, cause.text, because: because, wasSent: wasSent)
    self.init(code, reason, cause: cause)
  }

  /// Returns the code and the message for a failure that is neither the proxy's nor TLS's.
  private static func meaning(
    of curl: CURLcode, _ authority: String, _ text: String, because: String, wasSent: Bool
  ) -> (Code, String) {
    switch curl {
    case CURLE_OPERATION_TIMEDOUT:
      (.requestTimedOut, "\(authority) could not be reached in time\(because)")
    case CURLE_COULDNT_RESOLVE_HOST:
      (.connectionFailed, "the host of \(authority) was not found; check its name and the network")
    case CURLE_COULDNT_CONNECT:
      (
        .connectionFailed,
        "\(authority) refused the connection or is out of reach\(because); "
          + "check that the server runs there"
      )
    case CURLE_PARTIAL_FILE:
      (.connectionFailed, "\(authority) closed the connection before the end of the response")
    case CURLE_GOT_NOTHING:
      (.connectionFailed, "\(authority) closed the connection without an answer")
    case CURLE_FILESIZE_EXCEEDED:
      (.responseTooLarge, "\(authority) announced more bytes than any response can have")
    case CURLE_OUT_OF_MEMORY where !wasSent:
      (
        .connectionFailed,
        "this process has no memory for the request to \(authority), which was not sent"
      )
    case CURLE_OUT_OF_MEMORY, Self.tooLarge:
      // libcurl's limit for a line is 100 kB. Before 8.6, it reports a longer line as out of
      // memory.
      (
        .responseTooLarge,
        "\(authority) sent a line of more than 100 kB in the head of its response, or this "
          + "process is out of memory"
      )
    case CURLE_BAD_CONTENT_ENCODING:
      // Some servers name a charset in `Content-Encoding`. Their content may still be encoded, so
      // the SDK does not use it.
      (
        .invalidResponse,
        "\(authority) sent content that cannot be decoded as its Content-Encoding says: "
          + "\(text); the server must name a coding such as gzip in Content-Encoding, and a "
          + "charset such as utf-8 in Content-Type"
      )
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY:
      (.invalidResponse, "\(authority) did not answer with a valid HTTP response: \(text)")
    case CURLE_WRITE_ERROR:
      // A callback of the SDK that refuses content sets its own error. So here, a decoder of
      // libcurl refused the content.
      (
        .invalidResponse,
        "\(authority) sent content that cannot be decoded: more bytes follow the encoded content"
      )
    case CURLE_URL_MALFORMAT:
      (.malformedRequest, "the request's URL is malformed")
    default:
      (.connectionFailed, "the exchange with \(authority) broke off: \(text)\(because)")
    }
  }

  /// The messages of OpenSSL and libcurl for a TCP connection that ended before TLS did.
  private static let endsOfTCP = ["unexpected eof", "SSL_ERROR_SYSCALL, errno 0"]

  /// libcurl's code for a value that exceeds one of its limits; older headers do not name it.
  private static let tooLarge = CURLcode(100)

  /// The codes for which libcurl stores the system's `errno`.
  ///
  /// For other codes, the stored value may come from an earlier failure.
  private static let systemCodes: [CURLcode] = [
    CURLE_COULDNT_CONNECT, CURLE_OPERATION_TIMEDOUT, CURLE_SEND_ERROR, CURLE_RECV_ERROR,
  ]

  /// The codes of a connection that could not be opened.
  private static let openingCodes: [CURLcode] = [
    CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY,
    CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT,
  ]

  /// The errors of a system that has no room for another descriptor or thread.
  private static let shortages = [EMFILE, ENFILE, ENOMEM, ENOBUFS, EAGAIN]

  private static let tlsCodes: [CURLcode] = [
    CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM,
    CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CLIENTCERT,
    CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_USE_SSL_FAILED,
    CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_CRL_BADFILE,
  ]
}
