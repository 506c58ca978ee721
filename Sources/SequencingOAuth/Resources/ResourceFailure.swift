/// Why a request for a protected resource was not answered.
enum ResourceFailure: Error {
  /// There is no other token than the one that was refused.
  case noAccess(SQOAuthError)
  /// The server refused the token, or what it allows.
  case refused(SQOAuthError, HTTPResponse)
  /// The request did not get through.
  case noAnswer(SQOAuthError)

  /// The error that the caller of ``AuthorizationModule/send(_:)`` sees.
  var error: SQOAuthError {
    switch self {
    case .noAccess(let error), .noAnswer(let error): error
    case .refused(let error, let response): error.carrying(response)
    }
  }
}
