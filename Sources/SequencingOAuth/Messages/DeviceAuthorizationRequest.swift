import SQBasics
import SQFoundation

/// The request that starts a sign-in on another device.
///
/// - SeeAlso: RFC 8628, section 3.1
struct DeviceAuthorizationRequest: ClientMessage {
  let endpoint: URL
  /// The requested scopes; `nil` for the server's default.
  let scope: String?
  /// The additional parameters of the request.
  let parameters: [FormCoding.Pair]
  let client: ClientCredentials
  let timeout: Duration

  var purpose: ClientEvent.Request.Purpose { .deviceAuthorization }

  /// Returns a POST request with the scope, the parameters and the client's authentication.
  ///
  /// The client's identifier is always in the form, because WSO2 and Google demand it there. RFC
  /// 8628 demands it only from a client that does not authenticate.
  func httpRequest() -> WebRequest {
    var pairs = parameters
    if let scope { pairs.insert(.init("scope", scope), at: 0) }
    if !client.namesItselfInForm { pairs.append(.init("client_id", client.id)) }
    return client.form(pairs, to: endpoint, timeout: timeout)
  }

  /// The texts that must not appear in a description, an error or a log.
  var secrets: SentSecrets { SentSecrets(parameters.map(\.value), passwords: client.secrets) }
}

extension DeviceAuthorizationRequest: Redacted {
  var description: String { "DeviceAuthorizationRequest(\(client.id))" }
}
