import SQBasics
import SQFoundation
public import SequencingOAuth

/// What a client has found out about a resource, and how.
///
/// - SeeAlso: RFC 9728
public struct DiscoveredResource: Sendable, Hashable {
  /// A request for metadata: its address, and the result in a sentence.
  public struct Step: Sendable, Hashable {
    /// The URL of the request without its query, which may contain a secret.
    public let address: String
    /// What was found there, or why nothing was found.
    public let finding: String
  }

  /// The resource's own description.
  public let metadata: ProtectedResourceMetadata
  /// The requests that were sent, in order.
  public internal(set) var steps: [Step]
}

/// The cause of an error of the search: the resource has no metadata at any address.
package struct NoResourceMetadata: Error {}

/// The search for a resource's metadata.
///
/// - SeeAlso: RFC 9728, sections 3 and 5
struct ResourceDiscovery: Sendable {
  let resource: ResourceAddress
  let environment: ClientEnvironment
  var timeout: Duration

  /// The size of the largest document that is read, in bytes.
  static let maximumBytes: Int64 = 256 * 1024
  /// The largest number of authorization servers that a document may list.
  static let maximumServers = 20

  /// Finds the metadata at the address that a challenge names, or at the resource's own addresses.
  ///
  /// If a challenge names an address, the search tries the resource's own addresses only if the
  /// server has no document there, or if the address must not be asked. A wrong document ends the
  /// search, because a server that describes another resource cannot be trusted.
  ///
  /// - Throws: `SQOAuthError.Code.resourceMetadataInvalid`, with the cause ``NoResourceMetadata``
  ///   if no address has a document; the errors of the transport.
  func find(named address: String?) async throws(SQOAuthError) -> DiscoveredResource {
    var candidates = try resource.candidates()
    var named: ResourceAddress.Candidate?
    var refusal: SQOAuthError?
    if let address {
      do throws(SQOAuthError) {
        let candidate = try resource.candidate(named: address)
        candidates = [candidate] + candidates.filter { $0.url != candidate.url }
        named = candidate
      } catch {
        // A challenge without an address leads to the resource's own addresses too, so a forged
        // challenge gains nothing.
        refusal = error
      }
    }
    var steps: [DiscoveredResource.Step] = []
    var statuses: Set<Int> = []
    for candidate in candidates {
      let response = try await response(at: candidate)
      if let absence = try absence(response, at: candidate, isNamed: candidate == named) {
        steps.append(.init(candidate, absence))
        statuses.insert(response.status)
        if candidate == named, ![404, 410].contains(response.status) { break }
        continue
      }
      let metadata = try metadata(in: response, of: candidate)
      steps.append(.init(candidate, "the metadata of \(metadata.resource.withoutQuery.printable)"))
      return DiscoveredResource(metadata: metadata, steps: steps)
    }
    let tried = zip(candidates, steps).map { "\($0.place) (\($1.finding))" }.joined(separator: ", ")
    if let refusal {
      throw SQOAuthError(
        refusal.code, "\(refusal.message); asked instead: \(tried)", cause: refusal.cause)
    }
    throw SQOAuthError(
      .resourceMetadataInvalid,
      "\(resource) does not say which authorization server it trusts; asked: \(tried); configure the "
        + "client by hand",
      cause: NoResourceMetadata(), status: statuses.count == 1 ? statuses.first : nil)
  }

  /// Returns why a response contains no metadata; `nil` if it should contain metadata.
  private func absence(
    _ response: WebResponse, at candidate: ResourceAddress.Candidate, isNamed: Bool
  ) throws(SQOAuthError) -> String? {
    // The search must not continue while a server is in trouble: the document at the next address
    // could describe a different resource.
    guard !WebResponse.isOfServerInTrouble(response.status) else {
      throw SQOAuthError(
        .serverError,
        "\(candidate.place) answered with status \(response.status), so the resource's metadata could "
          + "not be read", status: response.status)
    }
    guard response.status == 200 else {
      return "status \(response.status), so no metadata"
    }
    // Many web applications answer with their home page at any address.
    let isPage = MediaType.essence(of: response.headers["Content-Type"]) == "text/html"
    return isPage && !isNamed ? "a web page, so no metadata" : nil
  }

  private func response(
    at candidate: ResourceAddress.Candidate
  ) async throws(SQOAuthError) -> WebResponse {
    var request = WebRequest(url: candidate.url, headers: ["Accept": "application/json"])
    request.timeout = timeout
    request.maximumResponseBytes = Self.maximumBytes
    do throws(SQOAuthError) {
      return try await environment.exchange(request, for: .resourceMetadata)
    } catch {
      guard error.code == .responseTooLarge else { throw error }
      throw invalid(candidate, "is larger than \(Self.maximumBytes / 1024) KiB")
    }
  }

  private func metadata(
    in response: WebResponse, of candidate: ResourceAddress.Candidate
  ) throws(SQOAuthError) -> ProtectedResourceMetadata {
    guard JSONMessage.isJSON(response) else {
      let type = MediaType.description(of: response, removing: SentSecrets([]))
      throw invalid(candidate, "has \(type), which is not JSON")
    }
    let metadata: ProtectedResourceMetadata
    do throws(SQOAuthError) {
      metadata = try ProtectedResourceMetadata(document: response.body)
    } catch {
      throw invalid(candidate, "cannot be read: \(error.message)")
    }
    // Any other identifier could belong to a resource whose tokens this server must not get
    // (RFC 9728, section 3.3).
    guard candidate.identifiers.contains(metadata.resource) else {
      throw invalid(
        candidate,
        resource.identifiers.contains(metadata.resource)
          ? "describes \"\(metadata.resource.withoutQuery.printable)\", but at this address must describe "
            + "\(candidate.identifier) (RFC 9728, section 3.3); the resource's owner can correct it"
          : "describes another resource, \"\(metadata.resource.printable)\" (RFC 9728, section 3.3); if "
            + "you mean that resource, use its address")
    }
    try check(metadata.authorizationServers, candidate)
    return metadata
  }

  private func check(
    _ issuers: [String], _ candidate: ResourceAddress.Candidate
  ) throws(SQOAuthError) {
    guard !issuers.isEmpty else {
      throw invalid(candidate, "names no authorization server (authorization_servers)")
    }
    guard issuers.count <= Self.maximumServers else {
      throw invalid(
        candidate,
        "names \(issuers.count) authorization servers, and may name at most \(Self.maximumServers)")
    }
    for issuer in issuers {
      guard let address = try? ResourceAddress(issuer), !issuer.contains("#") else {
        throw invalid(
          candidate,
          "names an authorization server without an https URL, or with a fragment in it: "
            + "\"\(issuer.printable)\"")
      }
      // Without this check, a remote server could make this computer send requests to itself.
      guard resource.isLocal || !address.mayBeLocal else {
        throw invalid(
          candidate, "names an authorization server on this computer: \"\(issuer.printable)\"")
      }
    }
  }

  private func invalid(
    _ candidate: ResourceAddress.Candidate, _ fault: String
  ) -> SQOAuthError {
    SQOAuthError(
      .resourceMetadataInvalid, "the metadata at \(candidate.place) \(fault)")
  }
}

extension DiscoveredResource.Step {
  init(_ candidate: ResourceAddress.Candidate, _ finding: String) {
    address = candidate.place
    self.finding = finding
  }
}
