import CSQCurl
import SQBasics

// Failures of the proxy between the client and the server.
extension SQOAuthError {
  /// The information of libcurl about the proxy of a failed transfer.
  struct ProxyTrace {
    /// The HTTP status of the proxy's response to the request for a tunnel, or 0.
    var status = 0
    /// Whether the proxy's certificate was not verified in the last TLS handshake with a proxy.
    ///
    /// The value is meaningless if the connection to the proxy does not use TLS.
    var isUntrusted = false
    /// The port at the other end of the last connection, or 0.
    var port = 0
    /// Whether libcurl reports that it used a proxy; libcurl before 8.7 never reports it.
    var isUsed = false
    /// Whether this computer had to look up the server's name without the proxy's help, and failed.
    var isUnresolved = false
    /// Whether the proxy offered Basic authentication; `nil` if it offered nothing.
    var offersBasic: Bool?

    /// Creates a trace without a proxy.
    init() {}

    /// Creates a trace from the information that libcurl has after a transfer.
    init(_ handle: CurlHandle) {
      status = sq_get_long(handle.easy, CURLINFO_HTTP_CONNECTCODE)
      isUntrusted = sq_get_long(handle.easy, CURLINFO_PROXY_SSL_VERIFYRESULT) != 0
      port = sq_get_long(handle.easy, CURLINFO_PRIMARY_PORT)
      isUsed = sq_get_long(handle.easy, sq_info_used_proxy) != 0
      isUnresolved =
        sq_get_long(handle.easy, CURLINFO_PROXY_ERROR) == Int(CURLPX_RESOLVE_HOST.rawValue)
      // `offered` combines bits such as CURLAUTH_BASIC, which is 1.
      let offered = sq_get_long(handle.easy, CURLINFO_PROXYAUTH_AVAIL)
      offersBasic = offered == 0 ? nil : offered & 1 != 0
    }

    /// Returns whether the transfer connected to the setting's proxy, not directly to the server.
    func isOf(_ setting: ProxySetting, towards authority: String) -> Bool {
      guard let proxyPort = setting.port else { return false }
      return isUsed || status > 0 || (port == proxyPort && !authority.hasSuffix(":\(proxyPort)"))
    }
  }

  /// Returns the error for a transfer that failed because of its proxy; `nil` if the proxy is not
  /// at fault.
  static func ofProxy(
    _ curl: CURLcode, authority: String, detail: String, cause: CurlError, trace: ProxyTrace,
    isTLS: Bool, setting proxySetting: () -> ProxySetting
  ) -> SQOAuthError? {
    if trace.status >= 300 {
      return SQOAuthError(
        .connectionFailed,
        "the proxy towards \(authority) refused the connection with HTTP status \(trace.status); "
          + "check the proxy setting, \(proxySetting().name)\(demand(trace, proxySetting()))",
        cause: cause)
    }
    // Without a detail, libcurl has not even created a socket.
    if [CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_PROXY].contains(curl), detail.isEmpty,
      case let setting = proxySetting(), let fault = setting.fault
    {
      return SQOAuthError(
        .connectionFailed,
        "the proxy setting, \(setting.name), \(fault); nothing was sent to \(authority)",
        cause: cause)
    }
    if curl == CURLE_COULDNT_CONNECT,
      let proxy = Self.proxy(in: detail, besides: authority, trace, proxySetting())
    {
      return SQOAuthError(
        .connectionFailed,
        "the proxy \(proxy), through which requests to \(authority) go, refused the connection or is "
          + "out of reach; check the proxy setting, \(proxySetting().name), and that the proxy runs",
        cause: cause)
    }
    if isTLS, trace.isUntrusted, case let setting = proxySetting(), setting.isOverTLS {
      return SQOAuthError(
        .tlsFailed,
        "no trusted TLS connection to the proxy towards \(authority): \(cause.text); check whether "
          + "the proxy setting, \(setting.name), should begin with https, and check the "
          + "authorities that the client trusts: the system's, or those in SSL_CERT_FILE, and "
          + "HTTPTransportConfiguration.additionalAuthorities", cause: cause)
    }
    switch curl {
    case CURLE_COULDNT_RESOLVE_PROXY:
      return SQOAuthError(
        .connectionFailed,
        "the host of the proxy towards \(authority) was not found; "
          + "check the proxy setting, \(proxySetting().name)", cause: cause)
    case CURLE_PROXY where trace.isUnresolved:
      return SQOAuthError(
        .connectionFailed,
        "this computer could not look up the host of \(authority); the proxy setting, "
          + "\(proxySetting().name), leaves that to this computer: with socks5h or socks4a, the "
          + "proxy looks it up",
        cause: cause)
    case CURLE_PROXY:
      return SQOAuthError(
        .connectionFailed,
        "the proxy opened no connection to \(authority): it refused the request, could not reach "
          + "the server, or is of another kind; check the proxy setting, \(proxySetting().name)",
        cause: cause)
    default:
      return nil
    }
  }

  /// Returns the advice for a proxy's 407 response, as the end of a sentence.
  ///
  /// For any other response, the text is empty.
  ///
  /// - SeeAlso: RFC 9110, section 15.5.8 (407)
  private static func demand(_ trace: ProxyTrace, _ setting: ProxySetting) -> String {
    guard trace.status == 407 else { return "" }
    guard trace.offersBasic != false else {
      return
        ": the proxy does not accept a user name and a password (Basic), the only way of signing "
        + "in that the SDK has; a small proxy on this computer, such as px or cntlm, knows other ways"
    }
    return setting.namesUser
      ? ": the proxy refused the user name or the password in it"
      : ": the proxy demands a user name and a password, as in http://USER:PASSWORD@HOST:PORT"
  }

  /// Returns the error, with a hint about the proxy setting if the request went through a proxy.
  ///
  /// An error about an untrusted certificate gets no hint, because its reason is clear.
  func namingProxy(
    _ setting: ProxySetting, _ trace: ProxyTrace, _ authority: String, after curl: CURLcode
  ) -> SQOAuthError {
    guard curl != CURLE_PEER_FAILED_VERIFICATION, !message.contains("proxy"),
      trace.isOf(setting, towards: authority)
    else { return self }
    var error = self
    error.message +=
      "; the request went through a proxy, which may be at fault: check the proxy setting, "
      + setting.name
    return error
  }

  /// Returns the host and the port that libcurl tried to reach, or `nil` if they are the server's.
  ///
  /// libcurl before 8.7 names them only in its text: "Failed to connect to HOST port PORT after
  /// TIME: REASON". Later texts have the server's host before " via " or " over ".
  static func proxy(
    in detail: String, besides authority: String, _ trace: ProxyTrace, _ setting: ProxySetting
  ) -> String? {
    let start = "Failed to connect to "
    let namesServer = detail.contains(" via ") || detail.contains(" over proxy ")
    if trace.isUsed || detail.hasPrefix(start) && namesServer { return setting.address?.printable }
    let words = detail.dropFirst(start.count).split(separator: " ", maxSplits: 3)
    guard detail.hasPrefix(start), words.count > 2, words[1] == "port", let port = UInt16(words[2])
    else { return nil }
    let host = words[0].asciiLowercased()
    // libcurl may spell an IP address differently from the request's URL.
    guard !authority.hasSuffix(":\(port)") || !isSameAddress(host, as: authority) else {
      return nil
    }
    let tried = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    return tried == authority ? nil : tried.printable
  }

  /// Returns whether a host and the host in `host:port` are the same IP address, in any spelling.
  private static func isSameAddress(_ host: String, as authority: String) -> Bool {
    let name = authority.prefix { $0 != "]" }
    if name.hasPrefix("[") {
      return CLibrary.ipv6(host).map { $0 == CLibrary.ipv6(String(name.dropFirst())) } ?? false
    }
    return CLibrary.ipv4(host).map {
      $0 == CLibrary.ipv4(String(authority.prefix { $0 != ":" }))
    } ?? false
  }
}
