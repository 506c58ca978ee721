import SQBasics
import SQFoundation

/// A request to the token endpoint: the parameters of a grant and exactly one client
/// authentication.
///
/// - SeeAlso: RFC 6749, sections 2.3.1, 4.1.3 and 6
struct TokenRequest: ClientMessage {
  let endpoint: URL
  /// The parameter `grant_type` and the parameters of that grant, in order.
  let parameters: [FormCoding.Pair]
  /// The client that sends the request, with the proof of its identity.
  let client: ClientCredentials
  let timeout: Duration
  /// The time limit of the whole request, if it is longer than ``timeout``.
  ///
  /// In that case, ``timeout`` limits only the time until the request is sent.
  var leastTimeout = Duration.zero
  var hasSignedGrant = false

  /// The size of the largest response to receive.
  ///
  /// A token response of more than 1 MiB is refused, but the server may have replaced the refresh
  /// token, so the SDK looks for the new one even in a larger response.
  private static let largestResponse: Int64 = 4 << 20

  var purpose: ClientEvent.Request.Purpose {
    .token(parameters.first { $0.name == "grant_type" }?.value ?? "")
  }

  /// Returns a POST request with the parameters, the client's authentication and the limits.
  func httpRequest() -> WebRequest {
    var request = client.form(parameters, to: endpoint, timeout: timeout)
    request.maximumResponseBytes = Self.largestResponse
    if leastTimeout > timeout {
      request.timeout = leastTimeout
      request.limits.connection = timeout
    }
    return request
  }

  /// The texts that no error may show: the values of all parameters that are not public.
  var secrets: SentSecrets {
    let open: Set = [
      "grant_type", "redirect_uri", "scope", "username", "audience", "resource",
      "requested_token_type", "subject_token_type", "actor_token_type",
    ]
    return SentSecrets(
      parameters.filter { !open.contains($0.name) && $0.name != "password" }.map(\.value),
      passwords: parameters.filter { $0.name == "password" }.map(\.value) + client.secrets)
  }
}

extension TokenRequest: Redacted {
  var description: String { "TokenRequest(\(parameters.value("grant_type") ?? ""))" }
}
