import Foundation
public import SequencingOAuth

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

extension AuthorizationModule {
  /// A copy of a request that carries a valid token; the request itself is not changed.
  ///
  /// An `Authorization` field that the request has is replaced; all other fields are kept. The
  /// token goes only to the servers that `ClientConfiguration.resourceOrigins` explains, and never
  /// over http to another machine.
  ///
  /// - Warning: On Linux, `URLSession` sends this field on to the servers that it is redirected to,
  ///   and may never complete a response with status 401. `AuthorizationModule.send(_:)` has
  ///   neither problem.
  public func authenticate(_ request: URLRequest) async throws(SQOAuthError) -> URLRequest {
    guard let url = request.url else {
      throw SQOAuthError(.malformedRequest, "the request has no URL")
    }
    // Authenticate an empty request to get only the fields that carry the token.
    let fields = try await authenticate(HTTPRequest(url: url)).headers
    var request = request
    for field in fields { request.setValue(field.value, forHTTPHeaderField: field.name) }
    return request
  }

  /// Puts a valid token on a copy of a request, for code without `async`.
  ///
  /// The completion is called once: on its actor if it belongs to one, and otherwise on the
  /// module's `callbackQueue`. It gets what the `async` form returns or throws.
  public func authenticate(
    _ request: URLRequest,
    completion: @escaping @isolated(any) (Result<URLRequest, SQOAuthError>) -> Void
  ) {
    callbacks.complete(completion) { () throws(SQOAuthError) in
      try await self.authenticate(request)
    }
  }
}

extension SQOAuth {
  /// A copy of a request that carries a valid token; the request itself is not changed.
  ///
  /// It calls `AuthorizationModule.authenticate(_:)` of the `module`, whose documentation names the
  /// errors and the servers that may get the token.
  public func authenticate(_ request: URLRequest) async throws(SQOAuthError) -> URLRequest {
    try await module.authenticate(request)
  }

  /// Puts a valid token on a copy of a request, for code without `async`.
  ///
  /// The completion is called once: on its actor if it belongs to one, and otherwise on the
  /// `callbackQueue`. It gets what the `async` form returns or throws.
  public func authenticate(
    _ request: URLRequest,
    completion: @escaping @isolated(any) (Result<URLRequest, SQOAuthError>) -> Void
  ) {
    module.authenticate(request, completion: completion)
  }
}
