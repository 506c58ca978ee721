public import SQBasics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// How a ``CurlHTTPClient`` connects: trusted authorities, client certificate, HTTP version, proxy.
///
/// The verification of certificates cannot be turned off. For a server whose certificate comes from
/// a private authority, set ``additionalAuthorities``.
public struct HTTPClientConfiguration: Sendable, Hashable {
  /// A choice of HTTP versions.
  public enum Version: Sendable, Hashable {
    /// HTTP/2 if the server offers it in the TLS handshake, otherwise HTTP/1.1.
    case automatic
    /// HTTP/1.1 only.
    case http1
  }

  /// A choice of proxy; a request to a loopback host never goes through a proxy.
  public enum Proxy: Sendable, Hashable {
    /// The proxy that the variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` name.
    ///
    /// They are read by the rules of curl.
    case environment
    /// No proxy: requests go directly to the server.
    case none
    /// The proxy at this URL, which gets the user and the password in the URL.
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
  public struct ClientCertificate: Sendable, Hashable {
    /// The client's certificate, then the intermediate certificates up to its authority, in PEM.
    public let chain: Data
    /// The private key, in PEM, not encrypted.
    public let privateKey: Data

    /// Makes a client certificate from PEM data.
    public init(chain: Data, privateKey: Data) {
      self.chain = chain
      self.privateKey = privateKey
    }
  }

  /// Certificates, in PEM, of authorities that the client trusts besides the system's.
  public var additionalAuthorities: Data?
  /// Whether the client trusts the system's authorities.
  ///
  /// If not, it trusts only the ``additionalAuthorities``. The variables `SSL_CERT_FILE` and
  /// `SSL_CERT_DIR` replace the system's file and folder, as they do for OpenSSL, Go and Python. A
  /// program that runs with the rights of another user ignores them.
  public var trustsSystemAuthorities = true
  /// The certificate for servers that ask for one; `nil` for none.
  public var clientCertificate: ClientCertificate?
  /// The oldest version of TLS that the client accepts.
  public var minimumTLSVersion: TLSVersion = .tls12
  /// The HTTP version that the client uses.
  public var version: Version = .automatic
  /// The proxy through which requests go.
  public var proxy: Proxy = .environment

  /// The `User-Agent` field of requests that have none; `nil` for no such field.
  ///
  /// Firewalls and APIs refuse requests without it, and a server's operator sees in it which
  /// program asks. Begin with the name and the version of your app: `"MyApp/2.1"`. By default it is
  /// ``defaultUserAgent``. A text that is no value of a field, for example because it has a line
  /// end, makes each request fail with ``SQOAuthError/Code/invalidConfiguration``.
  ///
  /// - SeeAlso: RFC 9110, section 10.1.5
  public var userAgent: String? = Self.defaultUserAgent

  /// The name and the version of this SDK: `SequencingOAuth/` and a number.
  public static let defaultUserAgent = "SequencingOAuth/\(Release.version)"

  /// Makes the default configuration, which is also the one of ``CurlHTTPClient/shared``.
  public init() {}
}

extension HTTPClientConfiguration.ClientCertificate: Redacted {
  /// A fixed text, without the certificate and the key.
  public var description: String { "client certificate" }
}

extension HTTPClientConfiguration.Proxy: Redacted {
  /// The kind of proxy and its host, without user and password.
  public var description: String {
    switch self {
    case .environment: "environment"
    case .none: "none"
    case .url(let url): "\(url.host() ?? "?"):\(url.port.map(String.init) ?? "")"
    }
  }
}
