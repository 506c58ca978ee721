import Foundation
public import SequencingOAuth

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

extension AccountOperations {
  /// Returns a copy of a request with a valid token.
  ///
  /// The token replaces the request's `Authorization` field; all other fields stay unchanged. The
  /// method throws if the server may not get the token (see `ClientConfiguration.resourceOrigins`),
  /// or if the token would go over http to another machine.
  ///
  /// - Warning: On Linux, `URLSession` also sends this field to servers that redirect it elsewhere,
  ///   and may never complete a response with status 401. `AuthorizationModule.send(_:)` has
  ///   neither problem.
  public func authenticate(_ request: URLRequest) async throws(SQOAuthError) -> URLRequest {
    guard let url = request.url else {
      throw SQOAuthError(.malformedRequest, "the request has no URL")
    }
    // Authenticate an empty request to get only the fields that carry the token.
    let fields = try await authenticate(WebRequest(url: url)).headers
    var request = request
    for field in fields { request.setValue(field.value, forHTTPHeaderField: field.name) }
    return request
  }

  /// Creates a copy of a request with a valid token and calls a completion.
  ///
  /// The completion is called once. If it is isolated to an actor, it runs on that actor; otherwise
  /// it runs on the `callbackQueue`. The errors are the same as in the `async` method.
  public func authenticate(
    _ request: URLRequest,
    completion: @escaping @isolated(any) (Result<URLRequest, SQOAuthError>) -> Void
  ) {
    module.callbacks.complete(completion) { () throws(SQOAuthError) in
      try await self.authenticate(request)
    }
  }
}
