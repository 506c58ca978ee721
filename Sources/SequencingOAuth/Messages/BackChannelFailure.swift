#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Errors for answers of the token and revocation endpoints, to which the SDK itself sends
/// requests.
extension SQOAuthError {
  /// The error for an endpoint that answered with an OAuth error.
  static func refusal(
    by endpoint: String, _ error: ErrorResponse, _ response: HTTPResponse, now: Date
  ) -> SQOAuthError {
    SQOAuthError(
      error.error,
      error.errorDescription.map { "\(endpoint) says: \($0)" }
        ?? "\(endpoint) \(Self.reason(error.error))", response: error, status: response.status,
      retryAfter: RetryAfter.delay(in: response.headers, now: now))
  }

  private static func reason(_ code: Code) -> String {
    code == .invalidClient
      ? "refused the client; check its identifier, its secret and its way of authentication"
      : "refused the request"
  }

  /// The error for an answer whose body explains nothing, so that only its status is used.
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
    case 401, 403:
      SQOAuthError(
        .invalidResponse,
        "\(endpoint) refused the client with status \(status) and no reason; check whether this "
          + "client may use it, its secret and its way of authentication", status: status)
    default:
      SQOAuthError(
        .invalidResponse, "\(endpoint) answered with status \(status); check its address",
        status: status)
    }
  }

  /// The error for a redirect, which is never followed: its target must not get the request.
  static func redirectRefused(by name: String, status: Int) -> SQOAuthError {
    SQOAuthError(
      .redirectRefused,
      "\(name) answered with a redirect (status \(status)), which the SDK does not follow; "
        + "configure the final address", status: status)
  }

  /// This error with the response's status, and with the request's secrets removed from its
  /// message.
  func with(status: Int, removing secrets: SentSecrets) -> SQOAuthError {
    var error = self
    error.message = secrets.removed(from: message)
    error.status = self.status ?? status
    return error
  }
}
