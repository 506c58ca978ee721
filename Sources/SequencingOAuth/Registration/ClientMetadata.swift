import SQBasics

/// The description of a client that registers itself at a server.
///
/// - SeeAlso: RFC 7591, section 2
public struct ClientMetadata: Sendable, Hashable {
  /// The redirect URIs (`redirect_uris`).
  ///
  /// A client that acts only on its own behalf needs none, but some servers require one
  /// nevertheless.
  public var redirectURIs: [String]
  /// The method by which the client authenticates (`token_endpoint_auth_method`).
  ///
  /// If it is `nil`, the default, the SDK uses the first of these methods that the server's
  /// metadata lists: a signed JWT if the client has ``keys``; no authentication, unless the
  /// client acts only on its own behalf; a secret, by Basic or in the body, whichever the server
  /// lists first. If the metadata has no list, the server accepts Basic. The method without
  /// authentication is meant for a program on its user's machine.
  /// ``ClientAuthentication/basicUnescaped`` is registered as Basic.
  ///
  /// - SeeAlso: RFC 8414, section 2
  public var clientAuthentication: ClientAuthentication?
  /// The keys with which the client signs (`jwks`); the server gets their public halves.
  ///
  /// ``ClientAuthentication/privateKeyJWT`` needs a key. The algorithm of the keys is registered
  /// too. With several keys, a client can change its key without an interruption.
  public var keys: [ClientKey] = []
  /// The grants that the client uses (`grant_types`).
  public var grantTypes: [String]
  /// The name shown to users on the server's pages (`client_name`).
  public var clientName: String?
  /// The URL of a page about the client (`client_uri`).
  public var clientURI: String?
  /// The kind of program (`application_type`); if `nil`, the default, the redirect URIs determine
  /// it.
  ///
  /// A client with redirects to https only is ``ApplicationType/web``, any other client with
  /// redirects is ``ApplicationType/native``; a client without redirects names no kind. Servers
  /// accept a redirect to a loopback address from native programs only.
  ///
  /// - SeeAlso: OpenID Connect Dynamic Client Registration 1.0, section 2
  public var applicationType: ApplicationType?
  /// The scopes that the client may request (`scope`); `nil` lets the server decide.
  public var scope: String?
  /// Contact addresses of the people who run the client, such as e-mail addresses (`contacts`).
  public var contacts: [String]
  /// The identifier of the software, equal for all its installations (`software_id`).
  public var softwareID: String?
  /// The version of the software (`software_version`).
  public var softwareVersion: String?
  /// Whether the client wants only access tokens that are bound to a key
  /// (`dpop_bound_access_tokens`); `nil`, the default, lets the server decide.
  ///
  /// Set it for a client whose ``ClientConfiguration/tokenBinding`` is a key, because some servers
  /// bind tokens only for clients that have registered this member. The server then refuses a token
  /// request without a proof.
  ///
  /// - SeeAlso: RFC 9449, section 5.2
  public var bindsAccessTokens: Bool?
  /// The rules that the client follows; not sent to the server.
  ///
  /// With a profile of FAPI 2.0, the client asks for ID tokens, and with
  /// ``SecurityProfile/fapi2MessageSigning`` also for responses of sign-ins, that are signed as the
  /// profile demands. By default, a server signs them with RS256, which the profile forbids. The
  /// algorithm is the first of the keys' algorithms, ES256, PS256 and EdDSA that the server's
  /// metadata lists; ``document(clientID:)``, which is for any server, has the first of them. A
  /// value in ``additionalMembers`` takes precedence.
  public var profile = SecurityProfile.standard
  /// Members without a property in this type, such as `logo_uri` or `software_statement`.
  ///
  /// The value `null` deletes a member when the client updates its registration, also a member that
  /// only the server has set.
  public var additionalMembers: [String: JSONValue] = [:]

  /// Whether a registration with only some of the redirect URIs is enough; not sent to the server.
  var acceptsFewerRedirectURIs = false

  /// The kinds of programs that servers tell apart by their redirect URIs.
  public enum ApplicationType: String, Sendable, Hashable {
    /// A program on its user's machine, with redirects to a loopback address or a custom scheme.
    case native
    /// A web application, with redirects to https.
    case web
  }

  /// Creates a description, by default of a program that signs its user in with the code grant.
  public init(
    redirectURIs: [String], clientAuthentication: ClientAuthentication? = nil,
    grantTypes: [String] = ["authorization_code", "refresh_token"], clientName: String? = nil,
    clientURI: String? = nil, scope: String? = nil, contacts: [String] = [],
    softwareID: String? = nil, softwareVersion: String? = nil
  ) {
    self.redirectURIs = redirectURIs
    self.clientAuthentication = clientAuthentication
    self.grantTypes = grantTypes
    self.clientName = clientName
    self.clientURI = clientURI
    self.scope = scope
    self.contacts = contacts
    self.softwareID = softwareID
    self.softwareVersion = softwareVersion
  }

  /// Returns this description without the grants that the server's metadata rules out, unless only
  /// `refresh_token` or no grant would remain.
  ///
  /// Some servers refuse a client that asks for a grant that they do not know.
  ///
  /// - SeeAlso: RFC 8414, section 2 (`grant_types_supported`)
  func choosingGrants(at server: ProviderMetadata) -> ClientMetadata {
    let isOffered = { (grant: String) in
      (server.grantTypes?.contains(grant) ?? true)
        && (grant != DeviceAuthorization.grantType || server.deviceAuthorizationEndpoint != nil)
    }
    let offered = grantTypes.filter(isOffered)
    guard offered.contains(where: { $0 != "refresh_token" }) else { return self }
    var metadata = self
    metadata.grantTypes = offered
    return metadata
  }

  /// Returns this description with the algorithms by which the server must sign, if the profile
  /// forbids the usual one.
  ///
  /// - SeeAlso: OpenID Connect Dynamic Client Registration 1.0, section 2; JARM, section 3
  func choosingSignatures(at server: ProviderMetadata) -> ClientMetadata {
    choosingSignatures { member in
      member == SecurityProfile.idTokenMember
        ? server.idTokenAlgorithms ?? [] : server.authorizationResponseAlgorithms ?? []
    }
  }

  /// Returns this description with the algorithms by which servers must sign, if the profile forbids
  /// the usual one.
  ///
  /// The closure gets a member's name, and returns the names of the server's algorithms; `nil` if
  /// the server is not known.
  func choosingSignatures(listed: (String) -> [String]?) -> ClientMetadata {
    guard let allowed = profile.algorithms else { return self }
    var metadata = self
    for member in profile.signatureMembers where additionalMembers[member] == nil {
      let listed = listed(member)
      let offered = listed.map { JWSAlgorithm.all(in: $0).intersection(allowed) } ?? allowed
      let preferred = keys.map(\.algorithm) + [.es256, .ps256, .edDSA]
      guard let chosen = preferred.first(where: offered.contains) else { continue }
      metadata.additionalMembers[member] = .string(chosen.name(in: listed))
    }
    return metadata
  }

  /// The names of the members that a request has with a value, or would have if the server listed an
  /// algorithm that the profile allows.
  var askedMembers: [String] {
    Set(members.filter { $0.value != .null }.keys).union(profile.signatureMembers).sorted()
  }

  /// The members of a registration request to a server that does not list its algorithms.
  var members: [String: JSONValue] { members(listed: nil) }

  /// Returns the members of the registration request.
  ///
  /// `listed` are the names of the algorithms by which clients may sign their authentication at the
  /// server; `nil` if its metadata has no such list.
  func members(listed: [String]?) -> [String: JSONValue] {
    additionalMembers.merging(own(listed: listed).compactMapValues(\.self)) { $1 }
  }

  /// The names of the members that have a property in this type.
  static let ownNames = Array(ClientMetadata(redirectURIs: []).own(listed: nil).keys)

  /// Returns the members that have a property in this type; a member without a value is `nil`.
  private func own(listed: [String]?) -> [String: JSONValue?] {
    func list(_ texts: [String]) -> JSONValue? {
      texts.isEmpty ? nil : .array(texts.map(JSONValue.string))
    }
    let usesCode = grantTypes.contains("authorization_code")
    return [
      "redirect_uris": list(redirectURIs), "grant_types": list(grantTypes),
      // Without this member, a server would assume the response type "code".
      "response_types": usesCode ? ["code"] : [],
      "application_type": (applicationType ?? impliedType).map { .string($0.rawValue) },
      "token_endpoint_auth_method": registeredAuthentication.map { .string($0.rawValue) },
      "token_endpoint_auth_signing_alg": signingAlgorithm.map { .string($0.name(in: listed)) },
      "jwks": keys.isEmpty
        ? nil : ["keys": .array(keys.compactMap { $0.publicJWK(forServerListing: listed) })],
      "dpop_bound_access_tokens": bindsAccessTokens.map(JSONValue.bool),
      "client_name": clientName.map(JSONValue.string),
      "client_uri": clientURI.map(JSONValue.string), "scope": scope.map(JSONValue.string),
      "contacts": list(contacts), "software_id": softwareID.map(JSONValue.string),
      "software_version": softwareVersion.map(JSONValue.string),
    ]
  }

  /// The kind of program that the redirect URIs imply; `nil` for a client without any.
  private var impliedType: ApplicationType? {
    guard !redirectURIs.isEmpty else { return nil }
    return redirectURIs.allSatisfy { $0.asciiLowercased().hasPrefix("https:") } ? .web : .native
  }

  /// The client's signing algorithm; `nil` if it does not sign or its keys have different
  /// algorithms.
  private var signingAlgorithm: JWSAlgorithm? {
    if clientAuthentication == .clientSecretJWT { return .hs256 }
    guard clientAuthentication == .privateKeyJWT, let first = keys.first?.algorithm,
      keys.allSatisfy({ $0.algorithm == first })
    else { return nil }
    return first
  }

  /// The authentication method under its registered name; `nil` if the server's metadata
  /// determines the method.
  var registeredAuthentication: ClientAuthentication? {
    clientAuthentication == .basicUnescaped ? .basic : clientAuthentication
  }

  /// Returns this description with an authentication method that the server supports, if the app
  /// has chosen none.
  func choosingAuthentication(supported: [String]?) -> ClientMetadata {
    guard clientAuthentication == nil else { return self }
    var metadata = self
    // RFC 8414, section 2: an absent list means client_secret_basic.
    let listed = (supported ?? [ClientAuthentication.basic.rawValue])
      .map(ClientAuthentication.init(rawValue:))
    let chosen =
      possibleAuthentications.first(where: listed.contains)
      // If the server lists none of these methods, the request has the best one anyway, because
      // the server's error says more than an error of the SDK.
      ?? possibleAuthentications.first
    // Some servers list Basic but cannot read it; the secret works by the method that they list
    // first.
    let secrets: [ClientAuthentication] = [.basic, .post]
    metadata.clientAuthentication =
      chosen == .basic ? listed.first(where: secrets.contains) ?? chosen : chosen
    return metadata
  }

  /// The authentication methods that the client can use, best first.
  var possibleAuthentications: [ClientAuthentication] {
    let actsForItself = Set(grantTypes).isSubset(of: ["client_credentials"])
    return (keys.isEmpty ? [] : [.privateKeyJWT]) + (actsForItself ? [] : [.publicClient])
      + [.basic, .post]
  }

  /// Throws if a redirect URI, the authentication method or a key cannot be used or is missing.
  func check() throws(SQOAuthError) {
    for uri in redirectURIs { _ = try RedirectURI(uri) }
    guard !redirectURIs.isEmpty || !grantTypes.contains("authorization_code") else {
      throw SQOAuthError(
        .invalidConfiguration,
        "a client with the grant authorization_code needs a redirect URI")
    }
    let known: [ClientAuthentication] = [
      .publicClient, .basic, .post, .basicUnescaped, .privateKeyJWT, .clientSecretJWT,
    ]
    if let clientAuthentication, !known.contains(clientAuthentication) {
      throw SQOAuthError(
        .invalidConfiguration,
        "\"\(clientAuthentication.rawValue.printable)\" is not a client authentication of this SDK")
    }
    guard keys.allSatisfy({ $0.publicJWK != nil }) else {
      throw SQOAuthError(
        .invalidConfiguration,
        "the public half of a remote client key is not known, so it cannot be registered; create "
          + "the ClientKey with its publicJWK")
    }
    guard
      !keys.isEmpty || clientAuthentication != .privateKeyJWT
        || additionalMembers["jwks_uri"] != nil
    else {
      throw SQOAuthError(
        .invalidConfiguration, "authentication by a signed token needs a client key")
    }
  }
}
