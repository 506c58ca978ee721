import SQBasics

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  import Foundation
#endif

/// Errors for the answers of the endpoints to which the SDK itself sends requests.
extension SQOAuthError {
  /// The error for an endpoint that answered with an OAuth error.
  package static func refusal(
    by endpoint: String, _ error: ErrorResponse, _ response: HTTPResponse, now: Date
  ) -> SQOAuthError {
    let words =
      error.errorDescription.map { "\(endpoint) says: \($0)" }
      ?? "\(endpoint) \(Self.reason(error.error))"
    return SQOAuthError(
      Code(sentByServer: error.error), words + error.ownCodeNote, response: error,
      status: response.status,
      retryAfter: RetryAfter.delay(in: response.headers, now: now))
  }

  private static func reason(_ code: Code) -> String {
    code == .invalidClient
      ? "refused the client; check its identifier, its secret and its way of authentication"
      : "refused the request"
  }

  /// The error for an answer without an OAuth error, by its status and the server's own words.
  package static func failure(
    of endpoint: String, _ response: HTTPResponse, now: Date, removing secrets: SentSecrets
  ) -> SQOAuthError {
    let status = response.status
    guard !(300..<400).contains(status) else {
      return redirectRefused(by: endpoint, response, removing: secrets)
    }
    let (code, what, advice): (Code, String, String) =
      switch status {
      case 429, 503: (.temporarilyUnavailable, "is busy (status \(status))", "; try again later")
      case 408, 421, 425:
        (
          .temporarilyUnavailable, "did not process the request (status \(status))",
          "; try again"
        )
      case 407:
        (
          .connectionFailed, "was not reached, because a proxy wants credentials (status 407)",
          "; check the proxy settings"
        )
      case 500...: (.serverError, "failed with status \(status)", "")
      case 401, 403:
        (
          .invalidResponse, "refused the client with status \(status)",
          " and no reason; check whether this client may use it, its secret and its way of "
            + "authentication"
        )
      default: (.invalidResponse, "answered with status \(status)", "; check its address")
      }
    return SQOAuthError(
      code, "\(endpoint) \(what)\(words(of: response, removing: secrets) ?? advice)",
      status: status,
      retryAfter: HTTPResponse.isOfServerInTrouble(status)
        ? RetryAfter.delay(in: response.headers, now: now) : nil)
  }

  /// What a server says in its own form, as the end of a sentence; `nil` if it says nothing.
  static func words(of response: HTTPResponse, removing secrets: SentSecrets) -> String? {
    RefusalText.text(in: response.body, removing: secrets).map { " and said: \($0)" }
  }

  /// The error for a redirect, which is never followed: its target must not get the request.
  private static func redirectRefused(
    by name: String, _ response: HTTPResponse, removing secrets: SentSecrets
  ) -> SQOAuthError {
    let target = redirectTarget(of: response).map { " to \(secrets.removed(from: $0).printable)" }
    return SQOAuthError(
      .redirectRefused,
      "\(name) answered with a redirect (status \(response.status))\(target ?? ""), which the SDK "
        + "does not follow; configure the final address", status: response.status)
  }

  /// The place to which an answer redirects, without what may be a secret in it.
  private static func redirectTarget(of response: HTTPResponse) -> String? {
    guard let location = response.headers["Location"] else { return nil }
    let place = location.prefix { $0 != "?" && $0 != "#" }
    guard let authority = place.firstRange(of: "//")?.upperBound else {
      return place.isEmpty ? nil : String(place)
    }
    // A user and a password stand before the host.
    let host = place[authority...].prefix { $0 != "/" }
    let start = host.lastIndex(of: "@").map(place.index(after:)) ?? authority
    return String(place[..<authority] + place[start...])
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
