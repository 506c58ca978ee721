public import SQBasics
public import SQFoundation

/// The connection settings of a ``CurlTransport``: authorities, client certificate, HTTP version,
/// proxy.
///
/// Certificate verification cannot be turned off. To reach a server with a certificate from a
/// private authority, set ``additionalAuthorities``.
public struct HTTPTransportConfiguration: Sendable, Hashable {
  /// The HTTP versions that the client may use.
  public enum Version: Sendable, Hashable {
    /// HTTP/2 if the server offers it in the TLS handshake, otherwise HTTP/1.1.
    case automatic
    /// HTTP/1.1 only.
    case http1
  }

  /// The proxy for requests; requests to a loopback host never go through a proxy.
  public enum Proxy: Sendable, Hashable {
    /// The proxy that the variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` name.
    ///
    /// The variables have the meaning that curl gives them.
    case environment
    /// No proxy: requests go directly to the server.
    case none
    /// The proxy at this URL, with the user name and password from the URL.
    ///
    /// The variable `no_proxy` has no effect.
    case url(URL)
  }

  /// A version of TLS.
  public enum TLSVersion: Sendable, Hashable {
    /// TLS 1.2 (RFC 5246).
    case tls12
    /// TLS 1.3 (RFC 8446).
    case tls13
  }

  /// A certificate and its private key, for servers that ask clients for a certificate.
  ///
  /// The pair is checked before the first request. If a part of it is missing or encrypted, or if
  /// the key belongs to a different certificate, each request fails with
  /// ``SQOAuthError/Code/invalidConfiguration``.
  public struct ClientCertificate: Sendable, Hashable {
    /// The client's certificate, then the intermediate certificates up to its authority, in PEM.
    public let chain: Data
    /// The private key, in PEM, not encrypted.
    ///
    /// `openssl pkey -in ENCRYPTED -out PLAIN` decrypts a key; let only your program read it.
    public let privateKey: Data

    /// Creates a client certificate from PEM data.
    public init(chain: Data, privateKey: Data) {
      self.chain = chain
      self.privateKey = privateKey
    }
  }

  /// The certificates of authorities to trust in addition to the system's, in PEM.
  public var additionalAuthorities: Data?
  /// Whether the client trusts the system's authorities.
  ///
  /// If `false`, it trusts only the ``additionalAuthorities``. The variables `SSL_CERT_FILE` and
  /// `SSL_CERT_DIR` replace the system's file and folder, as they do for OpenSSL, Go and Python. A
  /// program that runs with the rights of another user (setuid) ignores them.
  public var trustsSystemAuthorities = true
  /// The certificate for servers that ask for one; `nil` for none.
  public var clientCertificate: ClientCertificate?
  /// The oldest version of TLS that the client accepts.
  public var minimumTLSVersion: TLSVersion = .tls12
  /// The HTTP version that the client uses.
  public var version: Version = .automatic
  /// The proxy for requests.
  public var proxy: Proxy = .environment

  /// The `User-Agent` field of requests that set none; `nil` sends no such field.
  ///
  /// Some firewalls and APIs refuse requests without this field, and it tells a server's operator
  /// which program sends a request. Start with your app's name and version: `"MyApp/2.1"`. The
  /// default is ``defaultUserAgent``. If the text is not a valid field value, for example because
  /// it has a line end, each request fails with ``SQOAuthError/Code/invalidConfiguration``.
  ///
  /// - SeeAlso: RFC 9110, section 10.1.5
  public var userAgent: String? = Self.defaultUserAgent

  /// The name and version of this SDK: `SequencingOAuth/` and a number.
  public static let defaultUserAgent = "SequencingOAuth/\(Release.version)"

  /// Creates the default configuration, as in ``CurlTransport/shared``.
  public init() {}
}

extension HTTPTransportConfiguration.ClientCertificate: Redacted {
  /// A fixed text, without the certificate and the key.
  public var description: String { "client certificate" }
}

extension HTTPTransportConfiguration.Proxy: Redacted {
  /// The word `environment` or `none`, or the proxy's host and port without its user and password.
  public var description: String {
    switch self {
    case .environment: "environment"
    case .none: "none"
    case .url(let url): "\(url.host() ?? "?"):\(url.port.map(String.init) ?? "")"
    }
  }
}

extension HTTPTransportConfiguration.Proxy {
  /// Creates a proxy from an address that a user or a file provides.
  ///
  /// The address is a URL, or a host and a port: `proxy.example:8080` is an HTTP proxy. A URL
  /// begins with `http`, `https`, `socks4`, `socks4a`, `socks5` or `socks5h`. The default port is
  /// 443 for `https`, and 1080 otherwise.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` if no proxy can have the address. The
  ///   message does not repeat it, because it may contain a password.
  public init(address: String) throws(SQOAuthError) {
    // Without a scheme, libcurl would guess one from the name of the host, such as ftp.
    let text = address.contains("://") ? address : "http://" + address
    if let fault = ProxySetting.fault(of: text) {
      throw SQOAuthError(.invalidConfiguration, "the address of the proxy \(fault)")
    }
    guard let url = URL(string: text), url.host()?.isEmpty == false else {
      throw SQOAuthError(
        .invalidConfiguration,
        "the address of the proxy has a character that must be percent-encoded, such as one in its "
          + "user name or its password")
    }
    self = .url(url)
  }
}
