import Foundation
public import SequencingOAuth

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

extension AccountOperations {
  /// Returns a copy of a request with a valid token.
  ///
  /// The token replaces the request's `Authorization` field; all other fields stay unchanged. The
  /// method throws if the request's server may not get the token, as the documentation of
  /// `ClientConfiguration.resourceOrigins` explains, or if it would be sent over http to another
  /// machine.
  ///
  /// - Warning: On Linux, `URLSession` also sends this field to servers that redirect it elsewhere,
  ///   and never completes a response with status 401 whose challenge asks for Basic. `AuthorizationModule.send(_:)` has
  ///   neither problem.
  public func authenticate(_ request: URLRequest) async throws(SQOAuthError) -> URLRequest {
    guard let url = request.url else {
      throw SQOAuthError(.malformedRequest, "the request has no URL")
    }
    var request = request
    request.set(try await authorization(for: url))
    return request
  }

  /// Puts a valid token on a copy of a request, for code without `async`.
  ///
  /// The completion is called once with the result: on its actor if it belongs to one, otherwise on
  /// the `callbackQueue`. The errors are those of the `async` method.
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
  /// Puts the fields of an authorization on the request, in place of its own.
  public mutating func set(_ authorization: RequestAuthorization) {
    for field in authorization.fields { setValue(field.value, forHTTPHeaderField: field.name) }
  }
}

extension RequestAuthorization {
  /// Returns the authorization for a second attempt, or `nil` if another token cannot help.
  ///
  /// It has the rules and errors of `renewed(afterStatus:fields:)`.
  public func renewed(
    after response: HTTPURLResponse
  ) async throws(SQOAuthError) -> RequestAuthorization? {
    var fields = HeaderFields()
    if let challenge = response.value(forHTTPHeaderField: "WWW-Authenticate") {
      fields["WWW-Authenticate"] = challenge
    }
    return try await renewed(afterStatus: response.statusCode, fields: fields)
  }
}
