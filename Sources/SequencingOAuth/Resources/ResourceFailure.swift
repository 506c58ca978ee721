/// Why a request for a protected resource got no usable answer.
package enum ResourceFailure: Error {
  /// There is no other token than the one that the server refused.
  case noAccess(SQOAuthError)
  /// The server refused the token or its scope.
  case refused(SQOAuthError, HTTPResponse)
  /// The request did not reach the server, or the answer did not come back.
  case noAnswer(SQOAuthError)

  /// The error that the caller of ``AuthorizationModule/send(_:)`` gets.
  var error: SQOAuthError {
    switch self {
    case .noAccess(let error), .noAnswer(let error): error
    case .refused(let error, let response): error.carrying(response)
    }
  }
}
