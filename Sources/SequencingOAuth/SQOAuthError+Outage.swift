// A server in trouble may put any code into its answer, also one that would mean something else with
// another status. So the status is looked at first.
extension SQOAuthError {
  /// Whether the server could not be reached, or could not answer any request.
  ///
  /// A later attempt may succeed.
  var isOutage: Bool {
    switch code {
    case .serverError, .temporarilyUnavailable: true
    // A server that answered cannot say that it did not.
    case .connectionFailed, .requestTimedOut, .tlsFailed: response == nil || isOfServerInTrouble
    default: isOfServerInTrouble
    }
  }

  /// Whether the status shows that the server could not process requests at all: 429 or 5xx.
  var isOfServerInTrouble: Bool {
    status.map { HTTPResponse.isOfServerInTrouble($0) } ?? false
  }
}

extension HTTPResponse {
  /// Whether a status shows that the server could not process requests at all.
  ///
  /// - SeeAlso: RFC 6585, section 4; RFC 9110, section 15.6
  static func isOfServerInTrouble(_ status: Int) -> Bool { status == 429 || status >= 500 }
}
