import SQBasics
public import SQFoundation

/// The method and the URL of a request for a protected resource, before the token is added.
public struct ResourceRequest: Sendable, Hashable {
  /// The method exactly as it is sent, such as `GET`.
  public let method: String
  /// The absolute URL, with its query.
  public let url: URL

  /// Creates a request from its method and its absolute URL.
  public init(_ method: String, _ url: URL) {
    self.method = method
    self.url = url
  }

  package init(_ request: WebRequest) { self.init(request.method, request.url) }

  /// Creates the request that an app will send with its own client.
  ///
  /// - Throws: ``SQOAuthError/Code/malformedRequest`` for a method that such a request cannot have,
  ///   and for a standard method that is not in upper case. Most clients send a standard method in
  ///   upper case, so the server would refuse a proof for the other spelling.
  init(ofApp method: String, _ url: URL) throws(SQOAuthError) {
    guard method.isFieldToken, method != "CONNECT" else {
      throw SQOAuthError(
        .malformedRequest,
        "\"\(method.printable)\" cannot be the method of a request to a server, so the SDK created "
          + "no authorization")
    }
    let upper = method.uppercased()
    guard upper == method || !Self.usual.contains(upper) else {
      throw SQOAuthError(
        .malformedRequest,
        "the method is \(upper), not \(method.printable): the case of its letters counts "
          + "(RFC 9110, section 9.1)")
    }
    self.init(method, url)
  }

  /// The methods that HTTP libraries know.
  private static let usual: Set = [
    "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH",
  ]
}

/// A type that determines how requests for protected resources carry their token.
///
/// The SDK calls it for each attempt to send a request, on any thread. It creates only header
/// fields, because a token in a URL would appear in logs and browser histories (RFC 9700, section
/// 4.3.2). If a token is bound to a key (``SQToken/isBound``), the SDK itself adds the proof, in
/// the field `DPoP`.
public protocol ResourceRequestAuthenticator: Sendable {
  /// Returns the header fields for requests with this token; they replace the request's fields with
  /// the same names.
  ///
  /// The default implementation returns the field `Authorization` with the token. The scheme is
  /// `DPoP` for a token that is bound to a key, and `Bearer` for any other token.
  func headerFields(for token: SQToken) -> HeaderFields

  /// Returns the header fields for one attempt to send one request with this token.
  ///
  /// Implement it if the fields depend on the request, for example on its URL. The default
  /// implementation returns the fields of ``headerFields(for:)``. If the method throws, the request
  /// fails.
  func headerFields(
    for token: SQToken, on request: ResourceRequest
  ) async throws -> HeaderFields

  /// Returns whether to send a request once more, with new fields, after a response with a status
  /// from 400 to 499.
  ///
  /// Implement it if the server sends something that the fields need, such as a nonce. For each
  /// token with which the request was sent, the SDK calls it at most once, and up to three more
  /// times if the server demands a new nonce (`use_dpop_nonce`). The default implementation returns
  /// `false`. The SDK refreshes a token that the server refused, whatever this method returns.
  func repeats(
    _ request: ResourceRequest, with token: SQToken, afterStatus status: Int, fields: HeaderFields
  ) async -> Bool
}

extension ResourceRequestAuthenticator {
  /// Returns the `Authorization` field with the token and its scheme.
  ///
  /// The scheme is always spelled `Bearer` or `DPoP`, even if the server used another spelling.
  public func headerFields(for token: SQToken) -> HeaderFields {
    let scheme = token.isBound || token.isOfTypeDPoP ? "DPoP" : "Bearer"
    return ["Authorization": "\(scheme) \(token.accessToken)"]
  }

  /// Returns the same fields for every request: those of `headerFields(for:)`.
  public func headerFields(
    for token: SQToken, on request: ResourceRequest
  ) async throws -> HeaderFields {
    headerFields(for: token)
  }

  /// Returns `false`, because the fields do not depend on what the server sends.
  public func repeats(
    _ request: ResourceRequest, with token: SQToken, afterStatus status: Int, fields: HeaderFields
  ) async -> Bool {
    false
  }
}

/// An authenticator that sends the token in the field `Authorization`.
///
/// - SeeAlso: RFC 6750, section 2.1; RFC 9449, section 7.1
public struct AuthorizationFieldAuthenticator: ResourceRequestAuthenticator {
  /// Creates an authenticator without settings.
  public init() {}
}
