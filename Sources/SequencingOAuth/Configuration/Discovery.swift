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
  /// The clock that a date in `Retry-After` is compared with.
  var clock: any WallClock = SystemClock()

  /// Tries the address of RFC 8414, then the two of OpenID Connect, until one has the document.
  ///
  /// At an address where they have nothing, servers redirect, fail or show a page, so these answers
  /// do not end the search. If every address fails, the error that helps a developer most is
  /// thrown.
  ///
  /// - Returns: The metadata, and for how many seconds it is fresh.
  func fetch(
    with client: any HTTPClient
  ) async throws(SQOAuthError) -> (metadata: ProviderMetadata, lifetime: Double) {
    var failure: SQOAuthError?
    for url in try addresses() {
      do throws(SQOAuthError) {
        return try await document(at: url, client)
      } catch {
        guard let weight = Self.weight(of: error) else { throw error }
        if weight > failure.flatMap(Self.weight) ?? -1 { failure = error }
      }
    }
    throw failure ?? SQOAuthError(.invalidResponse, "the issuer has no metadata document")
  }

  /// How much the failure of one address says about the server; `nil` if the failure ends the
  /// search.
  ///
  /// A document of another issuer and an endpoint without https end it, because the server cannot
  /// be trusted. A server that cannot be reached at one address cannot be reached at the others
  /// either.
  private static func weight(of error: SQOAuthError) -> Int? {
    switch error.code {
    // The document may be there at another time.
    case .serverError, .temporarilyUnavailable: 3
    // There is no document, but another page or nothing.
    case .invalidResponse where error.status != nil: 0
    case .redirectRefused: 1
    // There is a document, but it cannot be used.
    case .invalidResponse, .invalidConfiguration, .responseTooLarge: 2
    default: nil
    }
  }

  private func document(
    at url: URL, _ client: any HTTPClient
  ) async throws(SQOAuthError) -> (metadata: ProviderMetadata, lifetime: Double) {
    var request = HTTPRequest(url: url, headers: ["Accept": "application/json"])
    request.timeout = timeout
    let response = try await client.exchange(request)
    try check(response, from: url)
    return (
      try ProviderMetadata(document: response.body, issuer: issuer),
      HTTPFreshness.seconds(response.headers)
    )
  }

  /// The addresses at which the document may be, each once.
  func addresses() throws(SQOAuthError) -> [URL] {
    let url = try EndpointURL.check(issuer, name: "issuer")
    guard url.query() == nil else {
      throw SQOAuthError(.invalidConfiguration, "the issuer must not have a query")
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

  private func check(_ response: HTTPResponse, from url: URL) throws(SQOAuthError) {
    switch response.status {
    case 200:
      guard JSONMessage.isJSON(response) else {
        throw SQOAuthError(
          .invalidResponse,
          "the metadata address \(url) answered with a content type that is not JSON", status: 200)
      }
    case 300..<400, 429, 500...:
      throw .failure(of: "the metadata address \(url)", response, now: clock.now)
    default:
      throw SQOAuthError(
        .invalidResponse,
        "the issuer has no metadata document at \(url) (status \(response.status)); "
          + "check the issuer, or give the endpoints by hand", status: response.status)
    }
  }
}
