import SQBasics
import SQFoundation

/// A reader of a server's response to a registration request.
///
/// - SeeAlso: RFC 7591, sections 3.2.1 and 3.2.2; RFC 7592, section 3
struct RegistrationResponse {
  let issuer: String
  /// The texts of the request that must not appear in an error.
  let secrets: SentSecrets
  let now: Date
  /// The URL of the response: the registration endpoint, or the registration's own address.
  ///
  /// `nil` stands for the issuer.
  var address: URL?

  private static let endpoint = "the registration endpoint"

  /// Returns the members of a successful response.
  func members(of response: WebResponse) throws(SQOAuthError) -> [String: JSONValue] {
    guard [200, 201].contains(response.status) else { throw failure(response) }
    guard JSONMessage.isJSON(response) else {
      throw SQOAuthError(
        .invalidResponse,
        "\(Self.endpoint) answered with \(MediaType.description(of: response, removing: secrets)) "
          + "instead of JSON",
        status: response.status)
    }
    return try JSONMessage.members(of: response.body, as: "registration response")
  }

  func failure(_ response: WebResponse) -> SQOAuthError {
    guard response.status >= 400,
      let error = ErrorResponse(body: response.body, removing: secrets)
    else { return .failure(of: Self.endpoint, response, now: now, removing: secrets) }
    return .refusal(by: Self.endpoint, error, response, now: now)
  }

  /// Returns the registration in a response to a client that was described by `metadata`.
  ///
  /// A property whose value is missing in the response keeps its `earlier` value, except `members`.
  func registration(
    in members: [String: JSONValue], for metadata: ClientMetadata? = nil,
    after earlier: ClientRegistration? = nil
  ) throws(SQOAuthError) -> ClientRegistration {
    let reader = Self.reader(of: members)
    let id = try reader.required("client_id", reader.text)
    guard earlier.map({ $0.clientID == id }) ?? true else {
      throw SQOAuthError(
        .registrationMismatch, "the server answered with the registration of another client")
    }
    let asked = metadata?.registeredAuthentication ?? earlier?.clientAuthentication
    let method = try Self.method(reader, asked) ?? earlier?.clientAuthentication
    let secret = try Self.secret(reader, method, earlier)
    // RFC 6749, appendices A.1 and A.2: the characters of a client's identifier and secret.
    guard id.isPrintableASCII, secret.value?.isPrintableASCII ?? true else {
      throw SQOAuthError(
        .invalidResponse,
        "the client_id or client_secret in the registration response has forbidden characters")
    }
    var shown = members
    for name in ["client_secret", "registration_access_token"] { shown[name] = nil }
    let management = management(reader, after: earlier)
    let isReplaced = earlier?.management.map { $0.accessToken != management?.accessToken } ?? false
    return ClientRegistration(
      issuer: issuer, clientID: id, clientSecret: secret.value,
      clientSecretExpirationDate: secret.end,
      // RFC 7591, section 2: a missing method means Basic.
      clientAuthentication: method ?? (secret.value == nil ? .publicClient : .basic),
      redirectURIs: try reader.texts("redirect_uris") ?? earlier?.redirectURIs ?? [],
      scope: reader.claims.scope(ifMissing: earlier?.scope),
      management: management, replacesToken: isReplaced || earlier?.replacesToken == true,
      members: shown,
      sentKeys: metadata.map { $0.keys.compactMap(\.publicJWK) } ?? earlier?.sentKeys,
      askedGrants: metadata?.grantTypes ?? earlier?.askedGrants,
      askedRedirectURIs: metadata?.redirectURIs ?? earlier?.askedRedirectURIs,
      askedScope: metadata?.scope ?? earlier?.askedScope,
      askedMembers: metadata?.askedMembers ?? earlier?.askedMembers
    ).ordered(as: metadata?.redirectURIs ?? earlier?.redirectURIs ?? [])
  }

  /// Returns the client's authentication method; the server glewlwyd responds with a list of the
  /// allowed methods.
  private static func method(
    _ reader: ClaimReader, _ asked: ClientAuthentication?
  ) throws(SQOAuthError) -> ClientAuthentication? {
    let name = "token_endpoint_auth_method"
    guard reader.claims[name]?.array != nil else {
      return try reader.text(name).map(ClientAuthentication.init(rawValue:))
    }
    let methods = try reader.texts(name)?.map(ClientAuthentication.init(rawValue:)) ?? []
    if let asked {
      if methods.contains(asked) { return asked }
      if let other = methods.first(where: { $0.serves(inPlaceOf: asked) }) { return other }
    }
    return methods.first(where: ClientRegistration.supported.contains) ?? methods.first
  }

  /// Returns the client's secret and its expiration.
  ///
  /// If the response has no new secret, a missing secret or expiration keeps its earlier value.
  private static func secret(
    _ reader: ClaimReader, _ method: ClientAuthentication?, _ earlier: ClientRegistration?
  ) throws(SQOAuthError) -> (value: String?, end: Date?) {
    let value = try reader.text("client_secret")
    let date = try reader.date("client_secret_expires_at")
    // RFC 7591, section 3.2.1: zero means that the secret does not expire.
    let end = date.flatMap { $0.timeIntervalSince1970 == 0 ? nil : $0 }
    guard let earlier, value == nil || value == earlier.clientSecret else { return (value, end) }
    // A client that has changed to a method without a secret no longer has one.
    let keepsSecret = method == earlier.clientAuthentication || method?.usesSecret == true
    guard value != nil || keepsSecret else { return (nil, nil) }
    return (earlier.clientSecret, date == nil ? earlier.clientSecretExpirationDate : end)
  }

  private static func reader(of members: [String: JSONValue]) -> ClaimReader {
    // Some servers write an empty text for a missing value.
    var claims = members.filter { $0.value != "" }
    let end = "client_secret_expires_at"
    // Some servers write times as texts.
    if let digits = claims[end]?.string, let seconds = Int64(digits), seconds >= 0 {
      claims[end] = .integer(seconds)
    }
    return ClaimReader(
      claims: claims, subject: "registration response", missing: .invalidResponse,
      malformed: .invalidResponse)
  }

  // MARK: Managing

  /// Returns the address for deleting a rejected registration; `nil` if the response has none.
  func management(ofRefused response: WebResponse) -> ClientRegistration.Management? {
    guard [200, 201].contains(response.status),
      let members = JSONMessage.members(of: response.body)
    else { return nil }
    return management(Self.reader(of: members), after: nil)
  }

  /// Returns the address and the token for managing the client; takes a missing value from
  /// `earlier`.
  ///
  /// A server may replace only the token. An unusable token counts as missing: without a token the
  /// client works, but cannot manage itself.
  private func management(
    _ reader: ClaimReader, after earlier: ClientRegistration?
  ) -> ClientRegistration.Management? {
    let sent = reader.claims["registration_access_token"]?.string
    let token = sent.flatMap { $0.isSendableToken ? $0 : nil }
    guard let uri = managementURI(reader) ?? earlier?.management?.uri,
      let token = token ?? earlier?.management?.accessToken
    else { return nil }
    return ClientRegistration.Management(uri: uri, accessToken: token)
  }

  /// Returns the address of the registration; `nil` if it is missing or unusable.
  ///
  /// Without an address the client works, but cannot manage itself. The address must be on the
  /// server that sent the response. The server chooses the address, the token and indirectly the
  /// HTTP method. Without this rule, it could make the client send any request to another server in
  /// the client's network.
  private func managementURI(_ reader: ClaimReader) -> URL? {
    guard let text = reader.claims["registration_client_uri"]?.string,
      EndpointURL.hasOnlyURLCharacters(text),
      let address = address ?? URL(string: issuer),
      // Some servers write only a path.
      let absolute = URL(string: text, relativeTo: address)?.absoluteString,
      let uri = try? EndpointURL.check(absolute, name: "address of the registration"),
      let origin = try? ResourceOrigin(uri), origin == (try? ResourceOrigin(address))
    else { return nil }
    return uri
  }
}
