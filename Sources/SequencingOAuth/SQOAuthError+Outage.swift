// A server in trouble may send any error code, even one that has another meaning with another
// status. So the properties below depend on the status too.
extension SQOAuthError {
  /// Whether the server could not be reached, or could not answer any request.
  ///
  /// A later attempt may succeed.
  package var isOutage: Bool {
    switch code {
    case .serverError, .temporarilyUnavailable: true
    // A source of assertions, such as an identity provider, cannot be reached.
    case .clientKeyFailed where response == nil: (cause as? SQOAuthError)?.isOutage == true
    // A server that responded was reachable, so such a code in its response does not count.
    case .connectionFailed, .requestTimedOut, .tlsFailed: response == nil || isOfServerInTrouble
    default: isOfServerInTrouble
    }
  }

  /// Whether the status shows that the server did not process the request.
  var isOfServerInTrouble: Bool {
    status.map { WebResponse.isOfServerInTrouble($0) } ?? false
  }
}

extension WebResponse {
  /// Returns whether a status shows that the server did not process the request, but may do so
  /// later.
  ///
  /// These are 5xx, 429 (too many requests), 408 (the request did not arrive in time), 421 (the
  /// request was misdirected), 425 (too early) and 407 (a proxy demands authentication).
  ///
  /// - SeeAlso: RFC 9110, sections 15.5.8, 15.5.9, 15.5.20 and 15.6; RFC 8470, section 5.2; RFC
  ///   6585, section 4
  package static func isOfServerInTrouble(_ status: Int) -> Bool {
    status >= 500 || [407, 408, 421, 425, 429].contains(status)
  }
}
