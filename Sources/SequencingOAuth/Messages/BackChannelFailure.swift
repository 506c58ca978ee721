import SQBasics
package import SQFoundation

/// Errors for a server's responses to the SDK's own requests.
extension SQOAuthError {
  /// Creates the error for an endpoint that responded with an OAuth error.
  package static func refusal(
    by endpoint: String, _ error: ErrorResponse, _ response: WebResponse, now: Date
  ) -> SQOAuthError {
    let words =
      error.errorDescription.map { "\(endpoint) says: \($0)" }
      ?? "\(endpoint) \(Self.reason(error.error))"
    let code = Code(sentByServer: error.error)
    let advice = ProofAdvice.text(after: code, response.headers, at: now) ?? ""
    return SQOAuthError(
      code, words + error.ownCodeNote + advice, response: error,
      status: response.status,
      retryAfter: RetryAfter.delay(in: response.headers, now: now))
  }

  private static func reason(_ code: Code) -> String {
    code == .invalidClient
      ? "refused the client; check its identifier, its secret and its authentication method"
      : "refused the request"
  }

  /// Creates the error for a failed response without an OAuth error, from its status and body.
  package static func failure(
    of endpoint: String, _ response: WebResponse, now: Date, removing secrets: SentSecrets
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
          .connectionFailed, "was not reached, because a proxy requires credentials (status 407)",
          "; check the proxy settings"
        )
      case 500...: (.serverError, "failed with status \(status)", "; try again later")
      case 401, 403:
        (
          .invalidResponse, "refused the client with status \(status)",
          " and no reason; check whether this client may use it, and the secret, key or token that "
            + "the client sends there, if any"
        )
      default: (.invalidResponse, "answered with status \(status)", "; check the address")
      }
    return SQOAuthError(
      code, "\(endpoint) \(what)\(words(of: response, removing: secrets) ?? advice)",
      status: status,
      retryAfter: WebResponse.isOfServerInTrouble(status)
        ? RetryAfter.delay(in: response.headers, now: now) : nil)
  }

  /// Returns the server's explanation in the body as the end of a sentence; `nil` if there is none.
  static func words(of response: WebResponse, removing secrets: SentSecrets) -> String? {
    RefusalText.text(in: response.body, removing: secrets).map { " and said: \($0)" }
  }

  /// Creates the error for a redirect.
  ///
  /// The SDK follows no redirect, because the target must not get the request.
  private static func redirectRefused(
    by name: String, _ response: WebResponse, removing secrets: SentSecrets
  ) -> SQOAuthError {
    let target = redirectTarget(of: response).map { " to \(secrets.removed(from: $0).printable)" }
    return SQOAuthError(
      .redirectRefused,
      "\(name) answered with a redirect (status \(response.status))\(target ?? ""), but the SDK "
        + "follows no redirects; configure the final address", status: response.status)
  }

  /// Returns the target of a redirect without its query and user, because they may contain secrets.
  private static func redirectTarget(of response: WebResponse) -> String? {
    guard let location = response.headers["Location"] else { return nil }
    // The text is read by scalars, because a "?" and a combining mark form one Character.
    let place = location.unicodeScalars.prefix { $0 != "?" && $0 != "#" }
    guard let authority = place.firstRange(of: "//".unicodeScalars)?.upperBound else {
      return place.isEmpty ? nil : String(place)
    }
    // A user name and a password may stand before the host; leave them out.
    let host = place[authority...].prefix { $0 != "/" }
    let start = host.lastIndex(of: "@").map(place.index(after:)) ?? authority
    return String(place[..<authority]) + String(place[start...])
  }

  /// This error, with advice to set `tokenBinding` if the server demands a proof of a key.
  ///
  /// - SeeAlso: RFC 9449, section 5.2
  var namingTokenBinding: SQOAuthError {
    guard code == .invalidDPoPProof || code == .useDPoPNonce else { return self }
    var error = self
    error.message +=
      "; the server demands a proof of a key from this client: set the configuration's tokenBinding"
    return error
  }

  /// Returns this error with the response's status, and without the request's secrets in its
  /// message.
  func with(status: Int, removing secrets: SentSecrets) -> SQOAuthError {
    var error = self
    error.message = secrets.removed(from: message)
    error.status = self.status ?? status
    return error
  }
}

extension WebResponse {
  /// Returns the members of an endpoint's successful response; errors call the response `name`.
  ///
  /// Every 2xx status counts as success, because servers mix up 200 and 201.
  ///
  /// - Throws: The server's OAuth error, whatever the status; otherwise an error for a status other
  ///   than 2xx, or ``SQOAuthError/Code/invalidResponse`` for a body that is no JSON object.
  func members(
    named name: String, by endpoint: String, removing secrets: SentSecrets, now: Date
  ) throws(SQOAuthError) -> [String: JSONValue] {
    let members = JSONMessage.members(of: body)
    if let members, let error = ErrorResponse(members: members, removing: secrets) {
      throw .refusal(by: endpoint, error, self, now: now)
    }
    guard (200..<300).contains(status) else {
      throw .failure(of: endpoint, self, now: now, removing: secrets)
    }
    guard let members else {
      throw SQOAuthError(.invalidResponse, "the \(name) is no JSON object")
    }
    return members
  }
}
