#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Answers that mean the same at every endpoint of the back channel.
extension SQOAuthError {
  /// The endpoint refused in OAuth's terms.
  static func refusal(
    by endpoint: String, _ error: ErrorResponse, _ response: HTTPResponse, now: Date
  ) -> SQOAuthError {
    SQOAuthError(
      error.error,
      error.errorDescription.map { "\(endpoint) says: \($0)" }
        ?? "\(endpoint) refused the request", response: error, status: response.status,
      retryAfter: RetryAfter.delay(in: response.headers, now: now))
  }

  /// The endpoint failed, or is not what it should be, by the status alone.
  static func failure(
    of endpoint: String, _ response: HTTPResponse, now: Date
  ) -> SQOAuthError {
    let status = response.status
    let retryAfter = RetryAfter.delay(in: response.headers, now: now)
    return switch status {
    case 300..<400:
      redirectRefused(by: endpoint, status: status)
    case 429, 503:
      SQOAuthError(
        .temporarilyUnavailable, "\(endpoint) is busy (status \(status)); try again later",
        status: status, retryAfter: retryAfter)
    case 500...:
      SQOAuthError(
        .serverError, "\(endpoint) failed with status \(status)", status: status,
        retryAfter: retryAfter)
    default:
      SQOAuthError(
        .invalidResponse, "\(endpoint) answered with status \(status); check its address",
        status: status)
    }
  }

  /// A redirect where none is followed: whoever it names must not get the request.
  static func redirectRefused(by name: String, status: Int) -> SQOAuthError {
    SQOAuthError(
      .redirectRefused,
      "\(name) answered with a redirect (status \(status)), which is not followed; "
        + "give the final address", status: status)
  }

  /// The same error with the status of the response that it was found in, and no secret in its
  /// message.
  func with(status: Int, removing secrets: SentSecrets) -> SQOAuthError {
    var error = self
    error.message = secrets.removed(from: message)
    error.status = self.status ?? status
    return error
  }
}
