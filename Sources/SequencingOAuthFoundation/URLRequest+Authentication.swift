import Foundation
public import SequencingOAuth

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

extension AccountOperations {
  /// Returns a copy of a request with a valid token.
  ///
  /// The token replaces the request's `Authorization` field, and the proof of a token that is bound
  /// to a key replaces its `DPoP` field; all other fields stay unchanged. The method throws if the
  /// server must not get the token (see `ClientConfiguration.resourceOrigins`), or if the token
  /// would go over http to another machine.
  ///
  /// - Warning: On Linux, if `URLSession` follows a redirect, it sends the token to the redirect's
  ///   target, even on a different server. It also never completes a request if the response has
  ///   status 401 and a challenge for Basic. `AuthorizationModule.send(_:)` has neither problem.
  public func authenticate(_ request: URLRequest) async throws(SQOAuthError) -> URLRequest {
    guard let url = request.url else {
      throw SQOAuthError(.malformedRequest, "the request has no URL")
    }
    var request = request
    request.set(try await authorization(for: url, method: request.httpMethod ?? "GET"))
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

extension URLRequest {
  /// Sets the fields of an authorization, in place of the request's fields with the same names.
  public mutating func set(_ authorization: RequestAuthorization) {
    for field in authorization.fields { setValue(field.value, forHTTPHeaderField: field.name) }
  }
}

extension RequestAuthorization {
  /// Returns the authorization for another attempt, or `nil` if another attempt cannot help.
  ///
  /// The rules and errors are those of `renewed(afterStatus:fields:)`.
  public func renewed(
    after response: HTTPURLResponse
  ) async throws(SQOAuthError) -> RequestAuthorization? {
    var fields = HeaderFields()
    for case (let name as String, let value as String) in response.allHeaderFields {
      fields[name] = value
    }
    return try await renewed(afterStatus: response.statusCode, fields: fields)
  }
}
