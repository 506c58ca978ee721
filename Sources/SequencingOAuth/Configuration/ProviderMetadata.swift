import SQBasics
public import SQFoundation

/// The validated endpoints and capabilities of an authorization server; only the SDK creates this
/// value.
///
/// The issuer, the token endpoint and the authorization endpoint must be usable. The property of
/// any other endpoint is `nil` if its address is unusable, and a call that needs it fails with the
/// reason. A list of a wrong type counts as missing, but the list of code challenge methods must be
/// valid.
///
/// - SeeAlso: RFC 8414, section 2
public struct ProviderMetadata: Sendable, Hashable {
  /// The server's `issuer`, compared byte for byte; `nil` if the app gave endpoints without one.
  public let issuer: String?
  /// The server's `authorization_endpoint`; `nil` if no user can sign in with a browser.
  public let authorizationEndpoint: URL?
  /// The server's `token_endpoint`.
  public internal(set) var tokenEndpoint: URL
  /// The address for refreshes: the token endpoint, unless the provider has a different address for
  /// them.
  public internal(set) var refreshEndpoint: URL
  /// The server's `revocation_endpoint`; `nil` if it has no usable one.
  public var revocationEndpoint: URL? { optionalEndpoints[.revocation]?.url }
  /// The server's `device_authorization_endpoint`; `nil` if users cannot sign in on another device.
  ///
  /// - SeeAlso: RFC 8628, section 4
  public var deviceAuthorizationEndpoint: URL? { optionalEndpoints[.deviceAuthorization]?.url }
  /// The server's `pushed_authorization_request_endpoint`; `nil` if it has no usable one.
  ///
  /// - SeeAlso: RFC 9126, section 5
  public var pushedAuthorizationRequestEndpoint: URL? {
    optionalEndpoints[.pushedAuthorization]?.url
  }
  /// The server's `introspection_endpoint`; `nil` if it has no usable one.
  ///
  /// - SeeAlso: RFC 7662, section 2
  public var introspectionEndpoint: URL? { optionalEndpoints[.introspection]?.url }
  /// The server's `registration_endpoint`; `nil` if clients cannot register themselves.
  ///
  /// - SeeAlso: RFC 7591, section 3
  public var registrationEndpoint: URL? { optionalEndpoints[.registration]?.url }
  /// The endpoints that only some calls need, if the server names them.
  var optionalEndpoints: [OptionalEndpoint: OptionalEndpoint.Address] = [:]
  /// The token endpoint's address for clients with a certificate, from `mtls_endpoint_aliases`.
  var tokenEndpointAlias: OptionalEndpoint.Address?
  var endpointAliases: [OptionalEndpoint: OptionalEndpoint.Address] = [:]
  /// The server's `token_endpoint_auth_methods_supported`; `nil` if its metadata has no such list.
  public internal(set) var clientAuthenticationMethods: [String]?
  /// The server's `token_endpoint_auth_signing_alg_values_supported`; `nil` if its metadata has no
  /// such list.
  public internal(set) var clientAssertionAlgorithms: [String]?
  /// The server's `revocation_endpoint_auth_methods_supported`; `nil` if its metadata has no such
  /// list.
  public internal(set) var revocationAuthenticationMethods: [String]?
  /// The server's `introspection_endpoint_auth_methods_supported`; `nil` if its metadata has no
  /// such list.
  public internal(set) var introspectionAuthenticationMethods: [String]?
  /// The server's `code_challenge_methods_supported`; `nil` if its metadata has no such list.
  public internal(set) var codeChallengeMethods: [String]?
  /// Whether a `client_id` may be the URL of a document with the client's metadata.
  ///
  /// This is the server's `client_id_metadata_document_supported`.
  ///
  /// - SeeAlso: OAuth Client ID Metadata Document (draft), section 5
  public internal(set) var acceptsClientMetadataDocuments = false
  /// The server's `protected_resources`; `nil` if its metadata has no such list.
  ///
  /// - SeeAlso: RFC 9728, section 4
  public internal(set) var protectedResources: [String]?
  /// Whether redirects carry `iss`: the server's `authorization_response_iss_parameter_supported`.
  public internal(set) var sendsIssuerInResponse = false
  /// The server's `scopes_supported`; `nil` if its metadata has no such list.
  public internal(set) var scopes: [String]?
  /// The server's `response_modes_supported`; `nil` if its metadata has no such list.
  public internal(set) var responseModes: [String]?
  /// The server's `response_types_supported`; `nil` if its metadata has no such list.
  public internal(set) var responseTypes: [String]?
  /// The server's `grant_types_supported`; `nil` if its metadata has no such list.
  public internal(set) var grantTypes: [String]?
  /// Whether the server requires pushed authorization requests.
  ///
  /// This is the server's `require_pushed_authorization_requests`. The SDK then pushes the request
  /// of each sign-in with a browser.
  ///
  /// - SeeAlso: RFC 9126, section 5
  public internal(set) var requiresPushedAuthorizationRequests = false
  /// Whether the server requires signed authorization requests.
  ///
  /// This is the server's `require_signed_request_object`. The SDK then signs the request of each
  /// sign-in with the client's key.
  ///
  /// - SeeAlso: RFC 9101, section 10.5
  public internal(set) var requiresSignedRequestObjects = false

  /// The server's `authorization_signing_alg_values_supported`; `nil` if its metadata has no such
  /// list.
  public internal(set) var authorizationResponseAlgorithms: [String]?
  /// The server's `request_object_signing_alg_values_supported`; `nil` if its metadata has no such
  /// list.
  public internal(set) var requestObjectAlgorithms: [String]?
  /// The server's `dpop_signing_alg_values_supported`; `nil` if its metadata has no such list.
  ///
  /// - SeeAlso: RFC 9449, section 5.1
  public internal(set) var proofAlgorithms: [String]?

  /// Whether the server can bind access tokens to the client certificate of the TLS connection.
  ///
  /// This is the server's `tls_client_certificate_bound_access_tokens`.
  ///
  /// - SeeAlso: RFC 8705, section 3.3
  public internal(set) var bindsTokensToCertificates = false

  // MARK: OpenID Connect Discovery 1.0, section 3

  /// The address of the issuer's public keys, `jwks_uri`; `nil` if the server names no usable one.
  public var jwksURI: URL? { optionalEndpoints[.keys]?.url }
  /// The server's `userinfo_endpoint`; `nil` if it has no usable one.
  public var userInfoEndpoint: URL? { optionalEndpoints[.userInfo]?.url }
  /// The server's `end_session_endpoint`; `nil` if it has no usable one.
  public var endSessionEndpoint: URL? { optionalEndpoints[.endSession]?.url }
  /// The server's `id_token_signing_alg_values_supported`; `nil` if its metadata has no such list.
  public internal(set) var idTokenAlgorithms: [String]?
  /// The server's `userinfo_signing_alg_values_supported`; `nil` if its metadata has no such list.
  public internal(set) var userInfoAlgorithms: [String]?
  /// The server's `acr_values_supported`; `nil` if its metadata has no such list.
  public internal(set) var authenticationContextClasses: [String]?
  /// The server's `claims_supported`; `nil` if its metadata has no such list.
  public internal(set) var claims: [String]?
  /// The server's `prompt_values_supported`; `nil` if its metadata has no such list.
  public internal(set) var prompts: [String]?
  /// Why the OpenID Connect document could not be read; `nil` if it was read, was not needed, or
  /// does not exist.
  var outage: MetadataOutage?
}

extension ProviderMetadata {
  /// Why the algorithms of ID tokens are not known; `nil` if they are, or if the issuer lists none.
  var algorithmsOutage: SQOAuthError? { idTokenAlgorithms == nil ? outage?.error : nil }

  /// Returns the metadata with what OpenID Connect defines, from earlier metadata of the issuer, if
  /// the OpenID Connect document could not be read this time.
  ///
  /// The metadata is unchanged if the document was not missed, or could not be read before either.
  func completed(by earlier: ProviderMetadata?) -> ProviderMetadata {
    guard outage != nil, let earlier, earlier.outage == nil else { return self }
    var metadata = self
    for endpoint in [OptionalEndpoint.keys, .userInfo, .endSession] {
      metadata.optionalEndpoints[endpoint] =
        optionalEndpoints[endpoint] ?? earlier.optionalEndpoints[endpoint]
    }
    metadata.idTokenAlgorithms = idTokenAlgorithms ?? earlier.idTokenAlgorithms
    metadata.userInfoAlgorithms = userInfoAlgorithms ?? earlier.userInfoAlgorithms
    metadata.outage = nil
    return metadata
  }
}

extension ProviderMetadata {
  /// Returns the metadata with the addresses for clients with a certificate.
  ///
  /// - Throws: the reason why the token endpoint's alias cannot be used.
  /// - SeeAlso: RFC 8705, section 5
  func forCertificates() throws(SQOAuthError) -> ProviderMetadata {
    var metadata = self
    metadata.optionalEndpoints.merge(endpointAliases) { $1 }
    switch tokenEndpointAlias {
    case nil: break
    case .url(let url)?:
      metadata.tokenEndpoint = url
      metadata.refreshEndpoint = url
    case .unusable(let code, let reason)?: throw SQOAuthError(code, reason)
    }
    return metadata
  }
}

extension ProviderMetadata {
  /// Creates the metadata from an app's endpoints; throws if one of them is unusable.
  init(_ endpoints: Provider.Endpoints) throws(SQOAuthError) {
    issuer = endpoints.issuer
    if let issuer { _ = try EndpointURL.check(issuer, name: "issuer") }
    authorizationEndpoint = try endpoints.authorization.map { text throws(SQOAuthError) in
      try EndpointURL.check(text, name: "authorization endpoint")
    }
    tokenEndpoint = try EndpointURL.check(endpoints.token, name: "token endpoint")
    refreshEndpoint =
      if let refresh = endpoints.refresh {
        try EndpointURL.check(refresh, name: "refresh endpoint")
      } else {
        tokenEndpoint
      }
    for endpoint in OptionalEndpoint.allCases {
      guard let text = endpoints[endpoint] else { continue }
      optionalEndpoints[endpoint] = .url(try EndpointURL.check(text, name: endpoint.name))
    }
  }

  /// Throws if an endpoint is on this computer.
  ///
  /// A server elsewhere could otherwise make this computer send requests to itself.
  func checkIsElsewhere() throws(SQOAuthError) {
    let urls =
      [authorizationEndpoint, tokenEndpoint, refreshEndpoint, tokenEndpointAlias?.url]
      + (Array(optionalEndpoints.values) + Array(endpointAliases.values)).map(\.url)
    for url in urls.compactMap(\.self) {
      try Self.checkIsElsewhere(url, of: issuer ?? "")
    }
  }

  /// Throws if an address that a server names is on this computer, or cannot be used.
  static func checkIsElsewhere(_ url: URL, of issuer: String) throws(SQOAuthError) {
    let name =
      "the address \"\(url.absoluteString.printable)\" of the server "
      + "\"\(issuer.printable)\""
    guard let target = try? RequestTarget(url) else {
      throw SQOAuthError(
        .invalidResponse, "\(name) is no usable URL; the server's operator must correct it")
    }
    guard !target.mayBeLoopback else {
      throw SQOAuthError(
        .insecureEndpoint, "\(name) is on this computer; the SDK does not use it")
    }
  }

  /// Returns the address of an endpoint that a call needs; `nil` if the server names none.
  ///
  /// - Throws: The reason if the address cannot be used; the error of the request for the document
  ///   that may name it, if an outage prevented that.
  package func address(of endpoint: OptionalEndpoint) throws(SQOAuthError) -> URL? {
    switch optionalEndpoints[endpoint] {
    case nil:
      if let outage, [.keys, .userInfo].contains(endpoint) { throw outage.error }
      return nil
    case .url(let url): return url
    case .unusable(let code, let reason): throw SQOAuthError(code, reason)
    }
  }
}

extension Provider.Endpoints {
  /// The address that the app gave for an endpoint; `nil` if it gave none.
  fileprivate subscript(endpoint: OptionalEndpoint) -> String? {
    switch endpoint {
    case .revocation: revocation
    case .deviceAuthorization: deviceAuthorization
    case .pushedAuthorization: pushedAuthorization
    case .introspection: introspection
    // An app that gives the endpoints has registered its client already.
    case .registration: nil
    case .keys: jwks
    case .userInfo: userInfo
    case .endSession: endSession
    }
  }
}
