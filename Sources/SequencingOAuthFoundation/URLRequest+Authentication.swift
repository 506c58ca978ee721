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

  /// Puts a valid token on a copy of a request, for code without `async`.
  ///
  /// The completion is called once: on its actor if it belongs to one, and otherwise on the module's
  /// `callbackQueue`. It gets what the `async` form returns or throws.
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
  /// It is what `AuthorizationModule.authenticate(_:)` of its module returns.
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
