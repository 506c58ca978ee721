/// A reason why a request for a protected resource got no usable response.
package enum ResourceFailure: Error {
  /// The SDK could not get a token or create the fields for it, at first or after a refusal.
  case noAccess(SQOAuthError)
  /// The server refused the token or its scope.
  case refused(SQOAuthError, WebResponse)
  /// The request did not reach the server, or no response came back.
  case noAnswer(SQOAuthError)

  /// The error for the caller of ``AccountOperations/send(_:)``.
  package var error: SQOAuthError {
    switch self {
    case .noAccess(let error), .noAnswer(let error): error
    case .refused(let error, let response): error.carrying(response)
    }
  }
}
