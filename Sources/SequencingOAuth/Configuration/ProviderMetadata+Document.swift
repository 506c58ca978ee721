import SQBasics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension ProviderMetadata {
  /// Checks the metadata document that was fetched for an issuer.
  ///
  /// Only what every client needs must be usable: one slip in a member that this client never
  /// needs would otherwise keep its users out.
  ///
  /// - SeeAlso: RFC 8414, sections 2 and 3.3
  init(document: Data, issuer: String) throws(SQOAuthError) {
    try self.init(
      members: try JSONMessage.members(of: document, as: "metadata document"), issuer: issuer)
  }

  /// Checks the members of a metadata document that was fetched for an issuer.
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
    for endpoint in OptionalEndpoint.allCases {
      optionalEndpoints[endpoint] = members.address(of: endpoint)
    }
    clientAuthenticationMethods = members.list("token_endpoint_auth_methods_supported")
    revocationAuthenticationMethods = members.list("revocation_endpoint_auth_methods_supported")
    introspectionAuthenticationMethods = members.list(
      "introspection_endpoint_auth_methods_supported")
    // A list that cannot be read must not count as none, which is no reason against the server.
    codeChallengeMethods = try members.reader.texts("code_challenge_methods_supported")
    sendsIssuerInResponse = members.flag("authorization_response_iss_parameter_supported")
    scopes = members.list("scopes_supported")
    responseModes = members.list("response_modes_supported")
    responseTypes = members.list("response_types_supported")
    grantTypes = members.list("grant_types_supported")
    requiresPushedAuthorizationRequests = members.flag("require_pushed_authorization_requests")
    requiresSignedRequestObjects = members.flag("require_signed_request_object")
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
  /// The issuer for which the document was fetched.
  let issuer: String

  /// Reads the members that must be as the standard says.
  var reader: ClaimReader {
    ClaimReader(
      claims: values, subject: "server's metadata", missing: .invalidResponse,
      malformed: .invalidResponse)
  }

  /// RFC 8414, section 3.3: identical, without any normalisation.
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

  /// The error for a document with a placeholder, such as Microsoft's for "common".
  private func manyTenants(_ named: String) -> SQOAuthError {
    SQOAuthError(
      .issuerMismatch,
      "the server's metadata is for many tenants: it names the issuer \"\(named.printable)\", in "
        + "which each tenant has its own identifier; use the issuer of one tenant, with its "
        + "identifier in that place")
  }

  /// An endpoint that must be usable if the document names it; an empty text names none.
  func endpoint(_ member: String, _ name: String) throws(SQOAuthError) -> URL? {
    try reader.possibleText(member).map { text throws(SQOAuthError) in try check(text, name) }
  }

  /// What the document says about an endpoint that only some calls need; `nil` for nothing.
  func address(of endpoint: OptionalEndpoint) -> OptionalEndpoint.Address? {
    switch values[endpoint.rawValue] {
    // Some servers write an empty text for an endpoint that they do not have.
    case nil, .null, "": nil
    default:
      OptionalEndpoint.Address { () throws(SQOAuthError) in
        try check(try reader.required(endpoint.rawValue, reader.text), endpoint.name)
      }
    }
  }

  /// The list of a member; `nil` if it is missing or has no text.
  ///
  /// One text is a list of one, and what is no text in a list is left out.
  func list(_ member: String) -> [String]? {
    guard let value = values[member] else { return nil }
    if let text = value.string { return text.isEmpty ? nil : [text] }
    guard let array = value.array else { return nil }
    let texts = array.compactMap(\.string)
    return texts.isEmpty && !array.isEmpty ? nil : texts
  }

  /// Whether a member is true, as a truth value or as a text.
  func flag(_ member: String) -> Bool {
    values[member]?.bool ?? (values[member]?.string?.asciiLowercased() == "true")
  }

  /// An endpoint must use https, unless the issuer is http itself.
  private func check(_ text: String, _ name: String) throws(SQOAuthError) -> URL {
    let name = "\(name) in the server's metadata"
    let url = try EndpointURL.check(text, name: name)
    guard url.scheme?.asciiLowercased() == "https" || issuer.asciiLowercased().hasPrefix("http:")
    else {
      throw SQOAuthError(
        .insecureEndpoint, "the \(name) uses http, although the issuer uses https")
    }
    return url
  }
}
