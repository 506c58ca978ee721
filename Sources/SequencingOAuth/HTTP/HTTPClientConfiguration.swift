public import Basics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// How a ``CurlHTTPClient`` connects: whom it trusts, who it is, over what.
///
/// There is no way to turn the verification of certificates off. A server with a certificate of a
/// private authority is reached by naming that authority.
public struct HTTPClientConfiguration: Sendable, Hashable {
  /// Which HTTP version to speak.
  public enum Version: Sendable, Hashable {
    /// HTTP/2 where the server offers it in the TLS handshake, HTTP/1.1 everywhere else.
    case automatic
    /// HTTP/1.1 only.
    case http1
    /// HTTP/2 from the first byte, over plain http too, as gRPC servers speak it.
    case http2PriorKnowledge
  }

  /// Through what requests go; those to a loopback host never go through a proxy.
  public enum Proxy: Sendable, Hashable {
    /// What `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` say, as curl reads them.
    case environment
    /// Straight to the server.
    case none
    /// This proxy, whatever `no_proxy` says; a user and a password in the URL are sent to it.
    case url(URL)
  }

  /// A version of TLS.
  public enum TLSVersion: Sendable, Hashable {
    /// TLS 1.2 (RFC 5246).
    case tls12
    /// TLS 1.3 (RFC 8446).
    case tls13
  }

  /// What the client shows a server that asks for a certificate.
  public struct ClientCertificate: Sendable, Hashable {
    /// The certificate and those that lead from it to its authority, in PEM.
    public let chain: Data
    /// The private key, in PEM, not encrypted.
    public let privateKey: Data

    /// Makes an identity from PEM data.
    public init(chain: Data, privateKey: Data) {
      self.chain = chain
      self.privateKey = privateKey
    }
  }

  /// Certificates of authorities, in PEM, that are trusted too.
  public var additionalAuthorities: Data?
  /// Whether the system's authorities are trusted; without them only ``additionalAuthorities`` are.
  public var trustsSystemAuthorities = true
  /// The client's own certificate.
  public var clientCertificate: ClientCertificate?
  /// The oldest version of TLS that is spoken.
  public var minimumTLSVersion: TLSVersion = .tls12
  /// Which HTTP version to speak.
  public var version: Version = .automatic
  /// Through what requests go.
  public var proxy: Proxy = .environment

  /// Makes the configuration that ``CurlHTTPClient/shared`` has.
  public init() {}
}

extension HTTPClientConfiguration.ClientCertificate: Redacted {
  /// A fixed text: neither certificate nor key.
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
