import SQBasics

/// What a client says of itself when it registers.
///
/// - SeeAlso: RFC 7591, section 2
public struct ClientMetadata: Sendable, Hashable {
  /// The redirect URIs (`redirect_uris`).
  ///
  /// A client that only acts in its own name needs none, but some servers want one nevertheless.
  public var redirectURIs: [String]
  /// How the client authenticates (`token_endpoint_auth_method`).
  ///
  /// With `nil`, the default, it is the first of these that the server's metadata lists: a signed
  /// token if the client has ``keys``; no proof, which is right for a program on its user's machine,
  /// unless the client acts in its own name; a secret by Basic; a secret in the body. A server
  /// without a list takes Basic. ``ClientAuthentication/basicUnescaped`` is registered as Basic.
  ///
  /// - SeeAlso: RFC 8414, section 2
  public var clientAuthentication: ClientAuthentication?
  /// The keys with which the client signs (`jwks`), of which the server gets the public halves.
  ///
  /// ``ClientAuthentication/privateKeyJWT`` needs one; its algorithm is registered too. Several keys
  /// let a client change its key without a pause.
  public var keys: [ClientKey] = []
  /// The grants that the client uses (`grant_types`).
  public var grantTypes: [String]
  /// The name that the server's pages show to users (`client_name`).
  public var clientName: String?
  /// The address of a page about the client (`client_uri`).
  public var clientURI: String?
  /// The scopes that the client may ask for (`scope`); `nil` lets the server decide.
  public var scope: String?
  /// Ways to reach the people who run the client (`contacts`), such as e-mail addresses.
  public var contacts: [String]
  /// The name of the software, the same for all its installations (`software_id`).
  public var softwareID: String?
  /// The version of the software (`software_version`).
  public var softwareVersion: String?
  /// Members that have no property here, such as `logo_uri` or `software_statement`.
  public var additionalMembers: [String: JSONValue] = [:]

  /// Describes a client, by default a program of a user that signs in with the code grant.
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

  /// The members of the request.
  var members: [String: JSONValue] {
    func list(_ texts: [String]) -> JSONValue? {
      texts.isEmpty ? nil : .array(texts.map(JSONValue.string))
    }
    let usesCode = grantTypes.contains("authorization_code")
    let own: [String: JSONValue?] = [
      "redirect_uris": list(redirectURIs), "grant_types": list(grantTypes),
      // Without the member, a server would take the response type "code" for granted.
      "response_types": usesCode ? ["code"] : [],
      "token_endpoint_auth_method": registeredAuthentication.map { .string($0.rawValue) },
      "token_endpoint_auth_signing_alg": signingAlgorithm.map(JSONValue.string),
      "jwks": keys.isEmpty ? nil : ["keys": .array(keys.compactMap(\.publicJWK))],
      "client_name": clientName.map(JSONValue.string),
      "client_uri": clientURI.map(JSONValue.string), "scope": scope.map(JSONValue.string),
      "contacts": list(contacts), "software_id": softwareID.map(JSONValue.string),
      "software_version": softwareVersion.map(JSONValue.string),
    ]
    return additionalMembers.merging(own.compactMapValues(\.self)) { $1 }
  }

  /// The algorithm of the client's authentication, if it signs and all its keys have one.
  private var signingAlgorithm: String? {
    guard clientAuthentication == .privateKeyJWT, let first = keys.first?.algorithm,
      keys.allSatisfy({ $0.algorithm == first })
    else { return nil }
    return first.rawValue
  }

  /// The method by its registered name; `nil` if the server's metadata decides.
  var registeredAuthentication: ClientAuthentication? {
    clientAuthentication == .basicUnescaped ? .basic : clientAuthentication
  }

  /// This description with a method that the server supports, if the app chose none.
  func choosingAuthentication(supported: [String]?) -> ClientMetadata {
    guard clientAuthentication == nil else { return self }
    var metadata = self
    // RFC 8414, section 2: an absent list means client_secret_basic.
    let listed = Set(supported ?? [ClientAuthentication.basic.rawValue])
    metadata.clientAuthentication =
      possibleAuthentications.first { listed.contains($0.rawValue) }
      // The server's refusal says more than a guess.
      ?? possibleAuthentications.first
    return metadata
  }

  /// What the client can do, the best first.
  var possibleAuthentications: [ClientAuthentication] {
    let actsForItself = Set(grantTypes).isSubset(of: ["client_credentials"])
    return (keys.isEmpty ? [] : [.privateKeyJWT]) + (actsForItself ? [] : [.publicClient])
      + [.basic, .post]
  }

  /// Throws if the redirect URIs cannot be used, or the grants need some.
  func check() throws(SQOAuthError) {
    for uri in redirectURIs { _ = try RedirectURI(uri) }
    guard !redirectURIs.isEmpty || !grantTypes.contains("authorization_code") else {
      throw SQOAuthError(
        .invalidConfiguration, "a client that signs users in needs a redirect URI")
    }
    let known: [ClientAuthentication] = [
      .publicClient, .basic, .post, .basicUnescaped, .privateKeyJWT,
    ]
    if let clientAuthentication, !known.contains(clientAuthentication) {
      throw SQOAuthError(
        .invalidConfiguration,
        "\"\(clientAuthentication.rawValue.printable)\" is not a client authentication of this SDK")
    }
    guard keys.allSatisfy({ $0.publicJWK != nil }) else {
      throw SQOAuthError(
        .invalidConfiguration,
        "the public half of a client key that signs elsewhere is not known, so it cannot be "
          + "registered")
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
