import SQBasics
import SQFoundation

/// The request that gives the server a sign-in's parameters before the browser opens.
///
/// - SeeAlso: RFC 9126, section 2.1
struct PushedAuthorizationRequest: ClientMessage {
  let endpoint: URL
  /// The parameters of the authorization request.
  let parameters: [FormCoding.Pair]
  let client: ClientCredentials
  let timeout: Duration

  var purpose: ClientEvent.Request.Purpose { .pushedAuthorization }

  /// Returns the HTTP request, in which each parameter occurs once.
  ///
  /// The client's identifier is always in the form, because it is a parameter of the authorization
  /// request too.
  func httpRequest() -> WebRequest {
    client.form(
      client.namesItselfInForm ? parameters.filter { $0.name != "client_id" } : parameters,
      to: endpoint, timeout: timeout)
  }

  /// The texts that must not appear in a description, an error or a log.
  var secrets: SentSecrets {
    let open: Set = [
      "response_type", "client_id", "redirect_uri", "scope", "code_challenge_method", "prompt",
      "max_age", "acr_values", "ui_locales", "display", "response_mode", "resource", "audience",
    ]
    return SentSecrets(
      parameters.filter { !open.contains($0.name) }.map(\.value), passwords: client.secrets)
  }
}

extension PushedAuthorizationRequest: Redacted {
  var description: String { "PushedAuthorizationRequest(\(client.id))" }
}
