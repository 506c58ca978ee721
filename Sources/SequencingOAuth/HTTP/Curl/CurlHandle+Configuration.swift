import CSQCurl
import CSQTLS
import SQCrypto
import SQFoundation

/// The options that all requests of a client share.
extension CurlHandle {
  func setFixedOptions() {
    // Without these two options, libcurl would use signals for its time limits, and would wait for
    // a resolver's thread at the end.
    set(CURLOPT_NOSIGNAL, 1)
    set(CURLOPT_QUICK_EXIT, 1)
    set(CURLOPT_PROTOCOLS_STR, text: "http,https")
    set(CURLOPT_FOLLOWLOCATION, 0)
    set(CURLOPT_NETRC, sq_netrc_ignored)
    set(CURLOPT_HTTP09_ALLOWED, 0)
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    // "" allows every coding that this libcurl decodes; sizes are counted after decoding.
    set(CURLOPT_ACCEPT_ENCODING, text: "")
    // The path is sent as the caller wrote it, because it may be part of a signature.
    set(CURLOPT_PATH_AS_IS, 1)
    // Without a maximum size, libcurl ignores a Content-Length that does not fit its integer.
    set(CURLOPT_MAXFILESIZE_LARGE, size: .max)
    set(CURLOPT_NOPROGRESS, 0)
    // The event loop checks time limits more exactly; a whole day turns off libcurl's own limit.
    set(CURLOPT_CONNECTTIMEOUT_MS, 24 * 3600 * 1000)
    set(CURLOPT_TCP_KEEPALIVE, 1)
  }

  func setCallbacks() {
    let this = Unmanaged.passUnretained(self).toOpaque()
    sq_set_data_callback(easy, CURLOPT_WRITEFUNCTION, curlDidReceive)
    set(CURLOPT_WRITEDATA, this)
    sq_set_data_callback(easy, CURLOPT_HEADERFUNCTION, curlDidReceiveField)
    set(CURLOPT_HEADERDATA, this)
    sq_set_data_callback(easy, CURLOPT_READFUNCTION, curlWantsBody)
    set(CURLOPT_READDATA, this)
    sq_set_seek(easy, curlWantsRewind)
    set(CURLOPT_SEEKDATA, this)
    sq_set_socket_options(easy, curlWillConnect)
    set(CURLOPT_SOCKOPTDATA, this)
    sq_set_prerequest(easy, curlWillSend)
    set(CURLOPT_PREREQDATA, this)
    sq_set_progress(easy, curlHasRead)
    set(CURLOPT_XFERINFODATA, this)
    set(CURLOPT_PRIVATE, this)
    // A connection outlives the handle that opened it, so the context of these two callbacks must
    // live until the process ends.
    sq_set_open_socket(easy, curlOpenSocket)
    set(CURLOPT_OPENSOCKETDATA, multiContext)
    sq_set_close_socket(easy, curlCloseSocket)
    set(CURLOPT_CLOSESOCKETDATA, multiContext)
    ReadingTurn.limit(self)
  }

  func setConnection(_ configuration: HTTPTransportConfiguration) throws(SQOAuthError) {
    let name = configuration.userAgent.map { HeaderFields.Field(name: "User-Agent", value: $0) }
    if let flaw = name?.flaw {
      throw SQOAuthError(.invalidConfiguration, "in the HTTP client's configuration, \(flaw)")
    }
    let version =
      switch configuration.version {
      case .automatic: sq_http_2_over_tls
      case .http1: sq_http_1_1
      }
    let minimum =
      switch configuration.minimumTLSVersion {
      case .tls12: sq_tls_1_2
      case .tls13: sq_tls_1_3
      }
    set(CURLOPT_PROXY_SSLVERSION, minimum)
    let settings = [
      ("version", set(CURLOPT_HTTP_VERSION, version)),
      ("minimumTLSVersion", set(CURLOPT_SSLVERSION, minimum)),
      ("additionalAuthorities", setAuthorities(configuration)),
      ("clientCertificate", try setCertificate(configuration.clientCertificate)),
      ("userAgent", set(CURLOPT_USERAGENT, text: configuration.userAgent)),
    ]
    if let (name, _) = settings.first(where: { !$0.1 }) {
      throw SQOAuthError(
        .invalidConfiguration,
        "this libcurl does not support the HTTP client's setting \(name); change the setting, or "
          + "install another libcurl")
    }
  }

  /// Sets the certificate and the key as one blob.
  ///
  /// libcurl shares a connection between handles with equal certificates and does not compare their
  /// keys. With one blob for both, it compares the keys too.
  private func setCertificate(
    _ certificate: HTTPTransportConfiguration.ClientCertificate?
  ) throws(SQOAuthError) -> Bool {
    guard let certificate else { return true }
    let both = certificate.chain + Data("\n".utf8) + certificate.privateKey
    if let flaw = CertificateFlaw(in: both) { throw .unusableCertificate(flaw) }
    // If no passphrase is set and the PEM text is encrypted, libcurl reads memory at address 0, or
    // asks for a passphrase on the terminal.
    return set(CURLOPT_KEYPASSWD, text: "")
      && setBlob(CURLOPT_SSLCERT_BLOB, both) && setBlob(CURLOPT_SSLKEY_BLOB, both)
  }

  private func setBlob(_ option: CURLoption, _ data: Data) -> Bool {
    let bytes = [UInt8](data)
    return bytes.withUnsafeBytes { sq_set_blob(easy, option, $0.baseAddress, $0.count) } == CURLE_OK
  }
}

extension SQOAuthError {
  fileprivate static func unusableCertificate(_ flaw: CertificateFlaw) -> SQOAuthError {
    if let lack = OpenSSL.lack() {
      return SQOAuthError(
        .invalidConfiguration, "the HTTP client's clientCertificate cannot be used: \(lack)")
    }
    let reason =
      switch flaw {
      case .noCertificate: "its chain has no certificate in PEM"
      case .encryptedKey:
        "its private key is encrypted; decrypt it, for example with 'openssl pkey -in KEY -out PLAIN', "
          + "and let only this program read the result"
      case .noKey: "it has no private key in PEM that OpenSSL can read"
      case .otherKey: "its private key belongs to another certificate"
      }
    return SQOAuthError(
      .invalidConfiguration, "the HTTP client's clientCertificate cannot be used: \(reason)")
  }
}
