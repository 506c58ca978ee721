public import SQBasics
public import SQFoundation

/// A request that a resource server received, with the parts that carry the client's token.
///
/// ``AccessTokenValidator/validate(_:)-(ProtectedRequest)`` and
/// ``TokenIntrospector/claims(of:)-(ProtectedRequest)`` check its token and, if the token is bound
/// to a key, its proof.
///
/// - SeeAlso: RFC 6750, section 2.1; RFC 9449, section 7.1
public struct ProtectedRequest: Sendable {
  /// The request's method, such as `GET`.
  public let method: String
  /// The request's URL as the client sent it, with the scheme, the host and the port.
  ///
  /// Take the scheme, the host and the port from your service's configuration, never from a field
  /// of the request such as `Host`. Otherwise a malicious server that received a token and its
  /// proof could send both to your service, with its own address in that field. Behind a proxy, use
  /// the proxy's scheme, host and port.
  public let url: URL
  /// The values of all `Authorization` fields.
  public let authorization: [String]
  /// The values of all `DPoP` fields.
  public let proofs: [String]
  /// The client's certificate of the TLS connection, in DER; `nil` if there is none.
  ///
  /// Behind a proxy, take it only from a field that the proxy always replaces.
  public let certificate: Data?

  /// Creates a request from its method, its URL, its fields and the client's certificate.
  public init(
    method: String, url: URL, authorization: [String], proofs: [String], certificate: Data? = nil
  ) {
    self.certificate = certificate
    self.method = method
    self.url = url
    self.authorization = authorization
    self.proofs = proofs
  }
}

extension ProtectedRequest: Redacted {
  /// The method only, because a URL may have secrets in its query.
  public var description: String { "\(method.printable) request with a token" }
}
