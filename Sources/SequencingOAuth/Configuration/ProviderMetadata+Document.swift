import SQBasics
import SQFoundation

extension ProviderMetadata {
  /// Creates the metadata from an issuer's document, after checking it.
  ///
  /// Only the members that a sign-in with a browser needs must be usable. Otherwise a mistake in a
  /// member that this client never needs would prevent every sign-in.
  ///
  /// - SeeAlso: RFC 8414, sections 2 and 3.3
  init(document: Data, issuer: String) throws(SQOAuthError) {
    try self.init(
      members: try JSONMessage.members(of: document, as: "metadata document"), issuer: issuer)
  }

  /// Creates the metadata from the members of an issuer's document, after checking them.
  init(members values: [String: JSONValue], issuer: String) throws(SQOAuthError) {
    let members = MetadataMembers(values: values, issuer: issuer)
    try members.checkIssuer()
    self.issuer = issuer
    authorizationEndpoint = try members.endpoint(
      "authorization_endpoint", "authorization endpoint")
    guard let token = try members.endpoint("token_endpoint", "token endpoint") else {
      throw SQOAuthError(.invalidResponse, "the server's metadata names no token endpoint")
    }
    tokenEndpoint = token
    refreshEndpoint = token
    let aliases = members.aliases
    tokenEndpointAlias = aliases?.address("token_endpoint", "token endpoint")
    for endpoint in OptionalEndpoint.allCases {
      optionalEndpoints[endpoint] = members.address(endpoint.rawValue, endpoint.name)
      endpointAliases[endpoint] = aliases?.address(endpoint.rawValue, endpoint.name)
    }
    clientAuthenticationMethods = members.list("token_endpoint_auth_methods_supported")
    clientAssertionAlgorithms = members.list("token_endpoint_auth_signing_alg_values_supported")
    revocationAuthenticationMethods = members.list("revocation_endpoint_auth_methods_supported")
    introspectionAuthenticationMethods = members.list(
      "introspection_endpoint_auth_methods_supported")
    // An unreadable list must not count as missing, because a server without a list is accepted.
    codeChallengeMethods = try members.reader.texts("code_challenge_methods_supported")
    acceptsClientMetadataDocuments = members.flag("client_id_metadata_document_supported")
    protectedResources = members.list("protected_resources")
    sendsIssuerInResponse = members.flag("authorization_response_iss_parameter_supported")
    // A text that is not a valid scope is left out, because no request could ask for it.
    scopes = members.list("scopes_supported")?.filter(\.isScopeToken)
    responseModes = members.list("response_modes_supported")
    responseTypes = members.list("response_types_supported")
    grantTypes = members.list("grant_types_supported")
    requiresPushedAuthorizationRequests = members.flag("require_pushed_authorization_requests")
    requiresSignedRequestObjects = members.flag("require_signed_request_object")
    authorizationResponseAlgorithms = members.list("authorization_signing_alg_values_supported")
    requestObjectAlgorithms = members.list("request_object_signing_alg_values_supported")
    bindsTokensToCertificates = members.flag("tls_client_certificate_bound_access_tokens")
    proofAlgorithms = members.list("dpop_signing_alg_values_supported")
    idTokenAlgorithms = members.list("id_token_signing_alg_values_supported")
    userInfoAlgorithms = members.list("userinfo_signing_alg_values_supported")
    authenticationContextClasses = members.list("acr_values_supported")
    claims = members.list("claims_supported")
    prompts = members.list("prompt_values_supported")
  }
}

/// The members of a metadata document.
private struct MetadataMembers {
  let values: [String: JSONValue]
  /// The issuer whose document was fetched.
  let issuer: String

  /// A strict reader: a malformed member throws an error instead of counting as missing.
  var reader: ClaimReader {
    ClaimReader(
      claims: values, subject: "server's metadata", missing: .invalidResponse,
      malformed: .invalidResponse)
  }

  /// Checks that the document names exactly this issuer, without any normalization (RFC 8414,
  /// section 3.3).
  func checkIssuer() throws(SQOAuthError) {
    guard let named = values["issuer"]?.string else {
      throw SQOAuthError(.invalidResponse, "the server's metadata names no issuer")
    }
    guard named == issuer else {
      guard !named.contains("{") else { throw manyTenants(named) }
      throw SQOAuthError(
        .issuerMismatch,
        "the server's metadata names the issuer \"\(named.printable)\"; "
          + "if you trust that issuer, use exactly this text")
    }
  }

  /// Returns the error for a document with a placeholder in its issuer, such as Microsoft's for
  /// "common".
  private func manyTenants(_ named: String) -> SQOAuthError {
    SQOAuthError(
      .issuerMismatch,
      "the server's metadata is for many tenants: its issuer \"\(named.printable)\" has a "
        + "placeholder; use the issuer of one tenant, with the tenant's identifier in that place")
  }

  /// Returns an endpoint's URL; `nil` if the document names none or has an empty text.
  ///
  /// - Throws: ``SQOAuthError`` if the document names an unusable address.
  func endpoint(_ member: String, _ name: String) throws(SQOAuthError) -> URL? {
    try reader.possibleText(member).map { text throws(SQOAuthError) in try check(text, name) }
  }

  /// Returns the address of an endpoint that only some calls need; `nil` if the document names
  /// none.
  func address(_ member: String, _ name: String) -> OptionalEndpoint.Address? {
    switch values[member] {
    // Some servers write an empty text for an endpoint that they do not have.
    case nil, .null, "": nil
    default:
      OptionalEndpoint.Address { () throws(SQOAuthError) in
        try check(try reader.required(member, reader.text), name)
      }
    }
  }

  /// The addresses for clients with a certificate, `mtls_endpoint_aliases`; `nil` if there are
  /// none.
  ///
  /// - SeeAlso: RFC 8705, section 5
  var aliases: MetadataMembers? {
    values["mtls_endpoint_aliases"]?.object.map { MetadataMembers(values: $0, issuer: issuer) }
  }

  /// Returns the texts of a list; `nil` if the member is missing or of another type.
  ///
  /// A single text counts as a list of one text. Elements that are not texts are left out; if no
  /// element is a text, the list counts as missing. An empty list stays empty.
  func list(_ member: String) -> [String]? {
    guard let value = values[member] else { return nil }
    if let text = value.string { return text.isEmpty ? nil : [text] }
    guard let array = value.array else { return nil }
    let texts = array.compactMap(\.string)
    return texts.isEmpty && !array.isEmpty ? nil : texts
  }

  /// Returns whether a member is `true`, as a Boolean or as a text.
  func flag(_ member: String) -> Bool {
    values[member]?.bool ?? (values[member]?.string?.asciiLowercased() == "true")
  }

  /// Checks an endpoint's address: it must use https, unless the issuer uses http.
  private func check(_ text: String, _ name: String) throws(SQOAuthError) -> URL {
    let name = "\(name) in the server's metadata"
    let url: URL
    do throws(SQOAuthError) {
      url = try EndpointURL.check(text, name: name)
    } catch {
      throw error.code == .insecureEndpoint ? error : SQOAuthError(.invalidResponse, error.message)
    }
    guard url.scheme?.asciiLowercased() == "https" || issuer.asciiLowercased().hasPrefix("http:")
    else {
      throw SQOAuthError(
        .insecureEndpoint, "the \(name) uses http, although the issuer uses https")
    }
    return url
  }
}
