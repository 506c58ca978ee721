import SQFoundation

/// Functions that check a client's identifier and its document.
///
/// - SeeAlso: OAuth Client ID Metadata Document (draft), sections 3 and 4
enum ClientDocument {
  /// The size limit of a document in bytes, which the draft recommends (section 6.6).
  static let mostBytes = 5 * 1024

  /// Returns whether a text is meant as the address of a document.
  static func isAddress(_ id: String) -> Bool {
    let start = id.lowercased()
    return start.hasPrefix("https:") || start.hasPrefix("http:")
  }

  /// Throws if an address is not allowed as a client identifier.
  static func check(
    address: String, allowsLoopback: Bool
  ) throws(ClientDocumentFault) {
    guard let url = URLComponents(string: address), let host = url.host, !host.isEmpty else {
      throw ClientDocumentFault("The identifier is not a URL.")
    }
    guard url.scheme == "https" || allowsLoopback && LoopbackURL(address) != nil else {
      throw ClientDocumentFault("The identifier is not an https URL.")
    }
    guard url.fragment == nil, url.user == nil, url.password == nil else {
      throw ClientDocumentFault("The identifier has a fragment or a user.")
    }
    guard !url.path.isEmpty else { throw ClientDocumentFault("The identifier has no path.") }
    let segments = url.path.split(separator: "/", omittingEmptySubsequences: false)
    guard !segments.contains("."), !segments.contains("..") else {
      throw ClientDocumentFault("The identifier has the segment \".\" or \"..\".")
    }
  }

  /// Returns the client that the document in an answer describes; throws if the document is wrong.
  static func client(
    _ id: String, in answer: SandboxClientDocuments.Answer?, _ sandbox: SandboxState
  ) throws(ClientDocumentFault) -> SandboxClient {
    guard let answer else {
      throw ClientDocumentFault("The client's document could not be fetched.")
    }
    // A redirect is an error too, because it is not followed.
    guard answer.status == 200 else {
      throw ClientDocumentFault("The status of the client's document is \(answer.status).")
    }
    guard answer.body.count <= mostBytes else {
      throw ClientDocumentFault("The client's document is larger than \(mostBytes) bytes.")
    }
    let type = answer.contentType?.mediaType ?? ""
    guard type == "application/json" || type.hasPrefix("application/") && type.hasSuffix("+json"),
      let json = SandboxJSON(object: answer.body)
    else {
      throw ClientDocumentFault("The client's document is not a JSON object of a JSON type.")
    }
    return try client(id, json, sandbox)
  }

  private static func client(
    _ id: String, _ json: SandboxJSON, _ sandbox: SandboxState
  ) throws(ClientDocumentFault) -> SandboxClient {
    guard json["client_id"] == .string(id) else {
      throw ClientDocumentFault("The client_id in the client's document is missing or another one.")
    }
    guard json["client_secret"] == nil, json["client_secret_expires_at"] == nil else {
      throw ClientDocumentFault("The client's document contains a secret.")
    }
    let description: ClientDescription
    do throws(OAuthFault) {
      description = try ClientDescription(json, sandbox)
    } catch {
      throw ClientDocumentFault(error.description)
    }
    // Without `token_endpoint_auth_method`, the method is client_secret_basic (RFC 7591, section
    // 2).
    guard !description.method.usesSecret else {
      throw ClientDocumentFault("The client's token_endpoint_auth_method needs a secret.")
    }
    return description.client(id: id, secret: nil)
  }
}

/// The reason why a client's document is rejected.
struct ClientDocumentFault: Error, Hashable {
  let reason: String

  init(_ reason: String) {
    self.reason = reason
  }
}
