#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Fetches an issuer's metadata document.
///
/// - SeeAlso: RFC 8414, section 3; OpenID Connect Discovery 1.0, section 4
struct Discovery: Sendable {
  let issuer: String
  let timeout: Duration

  /// Tries the address of RFC 8414, then the two of OpenID Connect, while the server has nothing.
  func fetch(with client: any HTTPClient) async throws(SQOAuthError) -> ProviderMetadata {
    var refusal: SQOAuthError?
    for url in try addresses() {
      var request = HTTPRequest(url: url, headers: ["Accept": "application/json"])
      request.timeout = timeout
      let response = try await client.exchange(request)
      do throws(SQOAuthError) {
        try checkStatus(response)
        return try ProviderMetadata(document: response.body, issuer: issuer)
      } catch  where error.code == .invalidResponse {
        refusal = refusal ?? error
      }
    }
    throw refusal ?? SQOAuthError(.invalidResponse, "the issuer has no metadata document")
  }

  /// The well-known addresses, without doubles.
  func addresses() throws(SQOAuthError) -> [URL] {
    let url = try EndpointURL.check(issuer, name: "issuer")
    guard url.query() == nil else {
      throw SQOAuthError(.invalidConfiguration, "an issuer has no query")
    }
    let path = url.path(percentEncoded: true)
    let origin = String(issuer.dropLast(path.count))
    let trimmed = path.hasSuffix("/") ? String(path.dropLast()) : path
    var seen: Set<String> = []
    return [
      origin + "/.well-known/oauth-authorization-server" + trimmed,
      origin + trimmed + "/.well-known/openid-configuration",
      origin + "/.well-known/openid-configuration" + trimmed,
    ].filter { seen.insert($0).inserted }.compactMap { URL(string: $0) }
  }

  private func checkStatus(_ response: HTTPResponse) throws(SQOAuthError) {
    switch response.status {
    case 200:
      guard JSONMessage.isJSON(response) else {
        throw SQOAuthError(
          .invalidResponse, "the issuer's metadata document is not JSON by its content type",
          status: 200)
      }
    case 300..<400:
      throw .redirectRefused(by: "the issuer's metadata address", status: response.status)
    case 500...:
      throw SQOAuthError(
        .serverError, "the issuer's metadata address failed with status \(response.status)",
        status: response.status)
    default:
      throw SQOAuthError(
        .invalidResponse,
        "the issuer has no metadata document (status \(response.status)); "
          + "check the issuer, or give the endpoints by hand", status: response.status)
    }
  }
}
