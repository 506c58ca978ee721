import SQBasics
public import SQFoundation

/// The document in which a resource server says which tokens it accepts, and from whom.
///
/// A client reads it to sign users in from a resource's address alone. A resource server writes it
/// with ``document()`` and serves it at ``address(of:)``.
///
/// - SeeAlso: RFC 9728, section 2
public struct ProtectedResourceMetadata: Sendable, Hashable {
  /// The resource's identifier, `resource`: an https URL without a fragment.
  public var resource: String
  /// The issuers of the authorization servers whose tokens the resource accepts
  /// (`authorization_servers`).
  public var authorizationServers: [String]
  /// The scopes that requests to the resource may need (`scopes_supported`); `nil` if not listed.
  public var scopes: [String]?
  /// The resource's name to show to users (`resource_name`); `nil` if it has none.
  public var name: String?
  /// The address of a page for developers (`resource_documentation`); `nil` if there is none.
  public var documentation: String?
  /// The address of the resource's own keys (`jwks_uri`); `nil` if there is none.
  public var jwksURI: String?
  /// The signature algorithms of proofs that the resource accepts
  /// (`dpop_signing_alg_values_supported`); `nil` if not listed.
  public var proofAlgorithms: [String]?
  /// Whether the resource accepts only tokens that are bound to a key
  /// (`dpop_bound_access_tokens_required`).
  public var requiresProof = false
  /// Whether the resource accepts only tokens that are bound to a certificate
  /// (`tls_client_certificate_bound_access_tokens`).
  public var bindsTokensToCertificates = false
  /// Members without a property in this type, such as `resource_policy_uri`.
  public var additionalMembers: [String: JSONValue] = [:]

  /// Creates the description of a resource.
  public init(
    resource: String, authorizationServers: [String], scopes: [String]? = nil, name: String? = nil
  ) {
    self.resource = resource
    self.authorizationServers = authorizationServers
    self.scopes = scopes
    self.name = name
  }

  private static let wellKnown = "/.well-known/oauth-protected-resource"

  /// Returns the address at which a resource serves its document.
  ///
  /// The well-known path stands between the host and the path of the resource's identifier.
  ///
  /// - Throws: ``SQOAuthError/Code/insecureEndpoint`` or ``SQOAuthError/Code/invalidConfiguration``
  ///   if the identifier is neither an https URL nor an http URL with a loopback address.
  /// - SeeAlso: RFC 9728, section 3.1
  public static func address(of resource: String) throws(SQOAuthError) -> URL {
    let url = try EndpointURL.check(resource, name: "resource's identifier")
    let (root, tail) = EndpointURL.split(resource)
    let path = tail.prefix { $0 != "?" }
    // An identifier that is only a host may be written with a slash at its end.
    return URL(string: root + wellKnown + (path == "/" ? tail.dropFirst() : tail)) ?? url
  }

  /// Returns the document, to be served as `application/json`.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` or ``SQOAuthError/Code/insecureEndpoint``
  ///   if a client would refuse the document.
  public func document() throws(SQOAuthError) -> Data {
    _ = try Self.address(of: resource)
    guard !authorizationServers.isEmpty else {
      throw SQOAuthError(
        .invalidConfiguration, "the resource names no authorization server, so no user can sign in")
    }
    for issuer in authorizationServers {
      _ = try EndpointURL.check(issuer, name: "authorization server's issuer")
    }
    return try JSONValue.object(members).json("the resource's metadata")
  }

  private var members: [String: JSONValue] {
    func list(_ texts: [String]?) -> JSONValue? { texts.map { .array($0.map(JSONValue.string)) } }
    let own: [String: JSONValue?] = [
      "resource": .string(resource), "authorization_servers": list(authorizationServers),
      "scopes_supported": list(scopes), "resource_name": name.map(JSONValue.string),
      "resource_documentation": documentation.map(JSONValue.string),
      "jwks_uri": jwksURI.map(JSONValue.string),
      "dpop_signing_alg_values_supported": list(proofAlgorithms),
      "dpop_bound_access_tokens_required": requiresProof ? true : nil,
      "tls_client_certificate_bound_access_tokens": bindsTokensToCertificates ? true : nil,
      // The SDK sends a token only in a header field.
      "bearer_methods_supported": ["header"],
    ]
    return additionalMembers.merging(own.compactMapValues(\.self)) { $1 }
  }
}

extension ProtectedResourceMetadata {
  /// Reads a resource's document, without checking that it belongs to the expected resource.
  ///
  /// A member that clients do not need counts as missing if it has a wrong type.
  ///
  /// - Throws: ``SQOAuthError/Code/resourceMetadataInvalid``, which names the member.
  package init(document: Data) throws(SQOAuthError) {
    let members: [String: JSONValue]
    do throws(SQOAuthError) {
      members = try JSONMessage.members(of: document, as: "resource's metadata")
    } catch {
      throw SQOAuthError(.resourceMetadataInvalid, error.message)
    }
    let reader = ClaimReader(
      claims: members, subject: "resource's metadata", missing: .resourceMetadataInvalid,
      malformed: .resourceMetadataInvalid)
    self.init(
      resource: try reader.required("resource", reader.text),
      authorizationServers: try reader.texts("authorization_servers") ?? [],
      // Malformed scopes are left out, because no request could ask for them.
      scopes: reader.ifReadable("scopes_supported", reader.texts)?.filter(\.isScopeToken),
      name: reader.ifReadable("resource_name", reader.text)?.printable)
    documentation = reader.ifReadable("resource_documentation", reader.text)
    jwksURI = reader.ifReadable("jwks_uri", reader.text)
    proofAlgorithms = reader.ifReadable("dpop_signing_alg_values_supported", reader.texts)
    requiresProof = members["dpop_bound_access_tokens_required"]?.bool == true
    bindsTokensToCertificates = members["tls_client_certificate_bound_access_tokens"]?.bool == true
    let own = Set(self.members.keys).union(["scopes_supported"])
    additionalMembers = members.filter { !own.contains($0.key) }
  }
}
