import SQBasics
import SQFoundation

/// The search for an issuer's metadata document.
///
/// - SeeAlso: RFC 8414, section 3; OpenID Connect Discovery 1.0, section 4
struct Discovery: Sendable {
  let issuer: String
  /// The time limit for all addresses together.
  let timeout: Duration
  /// What the client needs besides the endpoints for sign-ins and tokens.
  var needs = MetadataNeeds.endpoints
  /// Whether to try `/.well-known/openid-configuration/path` before
  /// `/path/.well-known/openid-configuration` if the issuer has a path.
  ///
  /// Most issuers with a path have their document below the path (OpenID Connect Discovery 1.0).
  /// The Model Context Protocol tells clients to try the address with the path at its end first.
  var insertsWellKnownFirst = false
  /// Whether the issuer and its endpoints may be on this computer.
  var acceptsServersOnThisComputer = true
  /// The clock for the time limit and for a date in `Retry-After`.
  var clock: any WallClock = SystemClock()
  var observer: ClientObserver?

  /// Tries the address of RFC 8414, then the two addresses of OpenID Connect, until one has the
  /// document.
  ///
  /// At an address without a document, servers redirect, fail or show a page, so such responses do
  /// not end the search. If every address fails, this throws the most helpful error. Some servers
  /// have two documents, and only the OpenID Connect document has what OpenID Connect defines. If
  /// the first document lacks a member that the client needs, the members of the other document are
  /// added. If that document cannot be read because of an outage, the metadata says so.
  ///
  /// - Returns: The metadata, and how long it is fresh, in seconds.
  func fetch(
    with client: any HTTPTransport
  ) async throws(SQOAuthError) -> (metadata: ProviderMetadata, lifetime: Double) {
    let end = clock.steadyTime + timeout.bounded
    var worst: Miss?
    let addresses = try addresses()
    for (index, url) in addresses.enumerated() {
      do throws(Miss) {
        var document = try await document(at: url, client, until: end)
        if index == 0 {
          document = try await completed(document, by: addresses.dropFirst(), client, until: end)
        }
        return (document.metadata, document.lifetime)
      } catch {
        guard let weight = error.weight else { throw error.error }
        if weight > worst?.weight ?? 0 { worst = error }
      }
    }
    throw worst?.error
      ?? SQOAuthError(.invalidResponse, "the issuer has no metadata document")
  }

  /// A usable document of the issuer.
  private struct Document {
    let members: [String: JSONValue]
    var metadata: ProviderMetadata
    /// How long the document is fresh, in seconds.
    var lifetime: Double
  }

  /// The lifetime, in seconds, of a document that is incomplete because the server was in trouble.
  private static let incompleteLifetime = 60.0

  /// Adds the members of the OpenID Connect document to the document of RFC 8414, if the latter
  /// lacks a member that the client needs.
  ///
  /// - Throws: The error of a cancelled request, which says nothing about the issuer.
  private func completed(
    _ found: Document, by addresses: ArraySlice<URL>, _ client: any HTTPTransport,
    until end: Duration
  ) async throws(Miss) -> Document {
    let isWhole = needs.members.allSatisfy { ![nil, .null, ""].contains(found.members[$0]) }
    guard !isWhole else { return found }
    var whole = found
    for url in addresses {
      do throws(Miss) {
        let other = try await document(at: url, client, until: end)
        let own = found.members.filter { ![.null, ""].contains($0.value) }
        let members = other.members.merging(own) { $1 }
        guard let metadata = try? ProviderMetadata(members: members, issuer: issuer) else {
          return whole
        }
        whole.metadata = metadata
        whole.lifetime = min(whole.lifetime, other.lifetime)
        return whole
      } catch {
        guard error.error.code != .cancelled else { throw error }
        // Other errors are expected: an issuer without OpenID Connect has no second document.
        guard error.error.isOutage else { continue }
        whole.lifetime = min(whole.lifetime, Self.incompleteLifetime)
        whole.metadata.outage = MetadataOutage(error.error)
        // A server that does not respond at one address does not respond at the next.
        if error.weight == nil { return whole }
      }
    }
    return whole
  }

  /// The reason why one address has no metadata.
  private struct Miss: Error {
    let error: SQOAuthError
    /// How helpful the error is for a developer, higher is better; `nil` if the error ends the
    /// search.
    let weight: Int?

    init(_ error: SQOAuthError, weight: Int?) {
      self.error = error
      self.weight = weight
    }

    /// Creates a reason from a response with an error status.
    init(status error: SQOAuthError) {
      let weight: Int? =
        switch error.code {
        // The document may be there at another time.
        case .serverError, .temporarilyUnavailable: 6
        case .redirectRefused: 3
        default: 1
        }
      self.init(error, weight: weight)
    }

    /// Creates a reason from an error in a document or in its transfer.
    ///
    /// A document of another issuer and an endpoint without https end the search, because the
    /// server cannot be trusted. A server that cannot be reached at one address cannot be reached
    /// at the others either.
    init(document error: SQOAuthError) {
      let isUnusable = [.invalidResponse, .invalidConfiguration, .responseTooLarge]
        .contains(error.code)
      self.init(error, weight: isUnusable ? 4 : nil)
    }

    /// Creates a reason from a response with a wrong content type; `isDocument` says whether its
    /// content is the document.
    init(contentType error: SQOAuthError, isDocument: Bool) {
      self.init(error, weight: isDocument ? 5 : 2)
    }
  }

  private func document(
    at url: URL, _ client: any HTTPTransport, until end: Duration
  ) async throws(Miss) -> Document {
    var request = WebRequest(url: url, headers: ["Accept": "application/json"])
    let rest = end - clock.steadyTime
    guard rest > .zero else {
      throw Miss(
        document: SQOAuthError(
          .requestTimedOut,
          "the issuer's metadata did not come within \(timeout.text), the "
            + "limit for all of its addresses together"))
    }
    request.timeout = min(rest, timeout)
    let response: WebResponse
    do throws(SQOAuthError) {
      response = try await client.exchange(
        request, for: ObservedRequest(purpose: .serverMetadata), observer, clock)
    } catch {
      throw Miss(document: error)
    }
    guard response.status == 200 else { throw Miss(status: statusError(response, from: url)) }
    try checkType(of: response, from: url)
    do throws(SQOAuthError) {
      let members = try JSONMessage.members(of: response.body, as: "metadata document")
      return Document(
        members: members, metadata: try ProviderMetadata(members: members, issuer: issuer),
        lifetime: HTTPFreshness.seconds(response.headers))
    } catch {
      throw Miss(document: error)
    }
  }

  /// Returns the possible addresses of the document, each once.
  func addresses() throws(SQOAuthError) -> [URL] {
    let url = try EndpointURL.check(issuer, name: "issuer")
    guard url.query() == nil else {
      throw SQOAuthError(.invalidConfiguration, "the issuer must not have a query")
    }
    let path = url.path(percentEncoded: true)
    try Self.checkPath(path, of: issuer)
    let origin = String(issuer.dropLast(path.count))
    let trimmed = path.hasSuffix("/") ? String(path.dropLast()) : path
    let appended = origin + trimmed + "/.well-known/openid-configuration"
    let inserted = origin + "/.well-known/openid-configuration" + trimmed
    return [
      origin + "/.well-known/oauth-authorization-server" + trimmed,
      insertsWellKnownFirst ? inserted : appended, insertsWellKnownFirst ? appended : inserted,
    ].withoutRepeats().compactMap { URL(string: $0) }
  }

  /// Throws if the issuer is the address of a metadata document.
  private static func checkPath(_ path: String, of issuer: String) throws(SQOAuthError) {
    let known = ["oauth-authorization-server", "openid-configuration"]
    guard
      let part = known.lazy.map({ "/.well-known/\($0)" }).first(where: path.contains)
    else { return }
    throw SQOAuthError(
      .invalidConfiguration,
      "the issuer is the address of its metadata; leave out \"\(part)\", so that it is "
        + "\"\(issuer.replacing(part, with: ""))\"")
  }

  private func checkType(of response: WebResponse, from url: URL) throws(Miss) {
    guard !JSONMessage.isJSON(response) else { return }
    let type = MediaType.description(of: response, removing: SentSecrets([]))
    let named = JSONMessage.members(of: response.body)?["issuer"]?.string
    let isDocument = named == issuer
    let advice =
      isDocument
      ? "and this issuer's metadata; configure the server to send the content type "
        + "application/json, or configure the endpoints in the app"
      : "and no metadata of this issuer"
    throw Miss(
      contentType: SQOAuthError(
        .invalidResponse, "the metadata address \(url) answered with \(type) \(advice)",
        status: 200),
      isDocument: isDocument)
  }

  private func statusError(_ response: WebResponse, from url: URL) -> SQOAuthError {
    let status = response.status
    guard !(300..<400).contains(status), !WebResponse.isOfServerInTrouble(status) else {
      return .failure(
        of: "the metadata address \(url)", response, now: clock.now, removing: SentSecrets([]))
    }
    return SQOAuthError(
      .invalidResponse,
      "the issuer has no metadata document at \(url) (status \(status)); "
        + "check the issuer, or configure the endpoints", status: status)
  }
}
