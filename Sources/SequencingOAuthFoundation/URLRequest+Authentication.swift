import Foundation
public import SequencingOAuth

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

extension AuthorizationModule {
  /// A copy of a request that carries a valid token; the request itself is not changed.
  ///
  /// An `Authorization` field that is there is replaced, everything else is kept. The token goes to
  /// no server but those that `ClientConfiguration.resourceOrigins` explains, and never over http to
  /// another machine.
  ///
  /// - Warning: On Linux, `URLSession` follows redirects with the field on them and may never
  ///   complete a response of status 401; `AuthorizationModule.send(_:)` does
  ///   neither.
  public func authenticate(_ request: URLRequest) async throws(SQOAuthError) -> URLRequest {
    guard let url = request.url else {
      throw SQOAuthError(.malformedRequest, "the request has no URL")
    }
    // What an empty request gets is what the token adds.
    let fields = try await authenticate(HTTPRequest(url: url)).headers
    var request = request
    for field in fields { request.setValue(field.value, forHTTPHeaderField: field.name) }
    return request
  }
}

extension SQOAuth {
  /// A copy of a request that carries a valid token; the request itself is not changed.
  ///
  /// The same as the module's.
  public func authenticate(_ request: URLRequest) async throws(SQOAuthError) -> URLRequest {
    try await module.authenticate(request)
  }
}
