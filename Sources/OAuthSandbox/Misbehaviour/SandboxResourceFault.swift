/// A fault in the API's protected resource metadata, which clients must reject.
///
/// Pass it to ``SandboxMisbehaviour/resourceMetadata(_:)``.
///
/// - SeeAlso: RFC 9728, sections 3.3 and 7
public enum SandboxResourceFault: Sendable, Hashable, CaseIterable {
  /// The document describes another resource.
  case otherResource
  /// The document has no `resource`.
  case noResource
  /// The document is at another address, to which a redirect leads.
  case redirect
  /// An HTML page replaces the document.
  case html
  /// The document is larger than 5 MB.
  case large
  /// The document lists no authorization servers.
  case noServers
  /// The document lists a hundred authorization servers.
  case manyServers
  /// The document lists an authorization server whose address has no `https`.
  case insecureServer
  /// The document's address answers with the status 404.
  case notFound
  /// The document's address answers with the status 503.
  case unavailable
}

extension SandboxMisbehaviour {
  /// API metadata with a fault, for the endpoint ``SandboxEndpoint/resourceMetadata``.
  public static func resourceMetadata(_ fault: SandboxResourceFault) -> Self {
    switch fault {
    case .otherResource: .member("resource", "https://other.example.com/api")
    case .noResource: .member("resource", nil)
    case .redirect: .redirect(302, to: SandboxEndpoint.resourceMetadata.path + "?moved")
    case .html: .html
    case .large: .oversize(5_000_001)
    case .noServers: .member("authorization_servers", [])
    case .manyServers: .member("authorization_servers", .array(manyServers))
    case .insecureServer: .member("authorization_servers", ["http://id.example.com"])
    case .notFound: .status(404)
    case .unavailable: .unavailable(retryAfter: 1)
    }
  }

  private static let manyServers = (1...100).map {
    SandboxJSON.string("https://id-\($0).example.com")
  }

  /// The status 401, even if the token is valid, with a challenge that gives `address` as the
  /// address of the API's metadata.
  ///
  /// A client must not believe an address at another origin.
  public static func challenge(naming address: String) -> Self {
    var refusal = TokenRefusal(401)
    refusal.parameters.append(("resource_metadata", address))
    return Self(kind: .answer(refusal.answer, afterProcessing: false))
  }

  /// A demand for a different or more recent login of the user, even if the token's login suffices.
  ///
  /// - SeeAlso: RFC 9470, section 3
  public static func loginDemanded(acrValues: [String] = [], maxAge: Duration? = nil) -> Self {
    let refusal = TokenRefusal.insufficientLogin(acrValues, maxAge: maxAge)
    return Self(kind: .answer(refusal.answer, afterProcessing: false))
  }

  /// A demand, at each request, for a login that was never demanded before.
  ///
  /// A client that obeys every demand makes its user sign in again and again.
  public static let endlessStepUp = Self(kind: .endlessStepUp)
}
