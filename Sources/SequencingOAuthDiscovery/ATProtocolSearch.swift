import SQBasics
import SQFoundation
import SequencingOAuth

/// The search for the servers of a user of AT Protocol.
///
/// - SeeAlso: AT Protocol, "OAuth", "Identity Authentication"
struct ATProtocolSearch: Sendable {
  let environment: ClientEnvironment
  let handleResolver: String?
  let plcDirectory: String
  let timeout: Duration

  /// The size of the largest document that is read, in bytes.
  private static let maximumBytes: Int64 = 64 * 1024

  func user(_ name: String) async throws(SQOAuthError) -> ATProtocolUser {
    let did: String
    var handle: String?
    switch try ATProtocolName(name) {
    case .did(let known): did = known
    case .handle(let known):
      did = try await self.did(of: known)
      handle = known
    }
    let document = try await document(of: did)
    // Without this check, the owner of any domain could name the DID of another user.
    guard handle == nil || document.handle == handle else {
      let found = document.handle.map { "the handle \"\($0.printable)\"" } ?? "no handle"
      throw Self.fault(
        "the document of \(did.printable) names \(found), and must name "
          + "\"\((handle ?? "").printable)\"")
    }
    let server = try address(document.server, of: did)
    let discovery = ResourceDiscovery(resource: server, environment: environment, timeout: timeout)
    let issuers = try await discovery.find(named: nil).metadata.authorizationServers
    guard let issuer = issuers.first, issuers.count == 1 else {
      throw Self.fault(
        "the server \(server) names \(issuers.count) authorization servers, and must name one")
    }
    return ATProtocolUser(did: did, handle: handle, server: server.text, issuer: issuer)
  }

  // MARK: From a handle to a DID

  /// Returns the DID that the handle's own domain names, or else the DID that the resolver names.
  private func did(of handle: String) async throws(SQOAuthError) -> String {
    var own: WebResponse?
    var trouble: SQOAuthError?
    do throws(SQOAuthError) {
      own = try await answer(at: "https://\(handle)/.well-known/atproto-did")
    } catch {
      trouble = error
    }
    if let own, own.status == 200 {
      let line = String(
        streamSafe: own.body.prefix { $0 != 0x0A && $0 != 0x0D }.filter { $0 != 0x20 })
      if ATProtocolName.isDID(line) { return line }
      // The domain's owner decides whose handle it is, so an unusable DID ends the search.
      guard !line.hasPrefix("did:") else {
        throw Self.fault(
          "the domain \(handle.printable) names the DID \"\(line.printable)\", which cannot be "
            + "used (only did:plc:… and did:web:… can)")
      }
    }
    if Task.isCancelled { throw SQOAuthError(.cancelled, "the request was cancelled") }
    guard let handleResolver else {
      // The domain may name a DID at another time.
      if let trouble, trouble.isOutage { throw trouble }
      throw Self.fault(
        "no DID was found at the domain \(handle.printable) (/.well-known/atproto-did)",
        cause: trouble)
    }
    let answer = try await answer(
      at: "\(handleResolver)/xrpc/com.atproto.identity.resolveHandle?handle=\(handle)")
    guard answer.status == 200, let did = JSONMessage.members(of: answer.body)?["did"]?.string,
      ATProtocolName.isDID(did)
    else {
      throw Self.fault(
        "the handle resolver names no usable DID for \(handle.printable) (status \(answer.status))",
        cause: trouble, status: answer.status)
    }
    return did
  }

  // MARK: From a DID to a server

  /// The parts of a DID's document that a client needs.
  private struct DIDDocument {
    /// The first handle that the document names, in `alsoKnownAs`.
    let handle: String?
    /// The address of the user's server.
    let server: String?
  }

  private func document(of did: String) async throws(SQOAuthError) -> DIDDocument {
    let address =
      did.suffix(after: "did:web:").map { "https://\($0)/.well-known/did.json" }
      ?? "\(plcDirectory)/\(did)"
    let answer = try await answer(at: address)
    guard answer.status == 200, let members = JSONMessage.members(of: answer.body) else {
      throw Self.fault(
        "\(did.printable) has no readable document at \(address.printable) (status "
          + "\(answer.status))", status: answer.status)
    }
    guard members["id"]?.string == did else {
      throw Self.fault(
        "the document at \(address.printable) is not that of \(did.printable) (\"id\")")
    }
    let names = members["alsoKnownAs"]?.array ?? []
    let handle = names.lazy.compactMap(\.string).compactMap { $0.suffix(after: "at://") }.first
    let services = members["service"]?.array ?? []
    let service = services.first { service in
      ["#atproto_pds", "\(did)#atproto_pds"].contains(service["id"]?.string)
        && service["type"]?.string == "AtprotoPersonalDataServer"
    }
    return DIDDocument(
      handle: handle.map { String($0).asciiLowercased() },
      server: service?["serviceEndpoint"]?.string)
  }

  private func address(_ text: String?, of did: String) throws(SQOAuthError) -> ResourceAddress {
    guard let text, let address = try? ResourceAddress(text),
      EndpointURL.split(address.text).tail.isEmpty
    else {
      throw Self.fault(
        "the document of \(did.printable) names no usable server (#atproto_pds): "
          + "\"\((text ?? "").printable)\"")
    }
    // Without this check, a remote server could make this computer send requests to itself.
    guard !address.mayBeLocal else {
      throw Self.fault("the document of \(did.printable) names a server on this computer")
    }
    return address
  }

  private func answer(at address: String) async throws(SQOAuthError) -> WebResponse {
    var request = WebRequest(url: try EndpointURL.check(address, name: "address of a directory"))
    request.headers["Accept"] = "application/json, text/plain"
    request.timeout = timeout
    request.maximumResponseBytes = Self.maximumBytes
    // The host may be the user's handle. An observer that gets no account names must not see it.
    var environment = environment
    if environment.observer?.namesAccounts == false { environment.observer = nil }
    let response = try await environment.exchange(request, for: .resourceMetadata)
    guard !WebResponse.isOfServerInTrouble(response.status) else {
      throw SQOAuthError(
        .serverError,
        "\(address.printable) answered with status \(response.status); try again later",
        status: response.status)
    }
    return response
  }

  private static func fault(
    _ text: String, cause: SQOAuthError? = nil, status: Int? = nil
  ) -> SQOAuthError {
    SQOAuthError(.resourceMetadataInvalid, text, cause: cause, status: status)
  }
}
