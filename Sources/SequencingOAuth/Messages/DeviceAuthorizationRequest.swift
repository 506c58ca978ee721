import SQBasics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The request with which a sign-in on another device begins.
///
/// - SeeAlso: RFC 8628, section 3.1
struct DeviceAuthorizationRequest: Sendable {
  let endpoint: URL
  /// The scopes to ask for; `nil` for the server's default.
  let scope: String?
  /// The further parameters of the request.
  let parameters: [FormCoding.Pair]
  let client: ClientCredentials
  let timeout: Duration

  /// The request as the HTTP client sends it.
  func httpRequest() -> HTTPRequest {
    var pairs = parameters
    if let scope { pairs.insert(.init("scope", scope), at: 0) }
    return client.form(pairs, to: endpoint, timeout: timeout)
  }

  /// The texts that no description, error or log may show.
  var secrets: SentSecrets { SentSecrets(parameters.map(\.value), passwords: client.secrets) }
}

extension DeviceAuthorizationRequest: Redacted {
  var description: String { "DeviceAuthorizationRequest(\(client.id))" }
}
