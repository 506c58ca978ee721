/// Why a request for a protected resource was not answered.
enum ResourceFailure: Error {
  /// There is no other token than the one that was refused.
  case noAccess(SQOAuthError)
  /// The server refused the token, or what it allows.
  case refused(SQOAuthError, HTTPResponse)
  /// The request did not get through.
  case noAnswer(SQOAuthError)

  /// What it comes to, whoever is to blame.
  var error: SQOAuthError {
    switch self {
    case .noAccess(let error), .refused(let error, _), .noAnswer(let error): error
    }
  }
}
