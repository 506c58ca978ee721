#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads what a server has registered.
///
/// - SeeAlso: RFC 7591, sections 3.2.1 and 3.2.2; RFC 7592, section 3
struct RegistrationResponse {
  let issuer: String
  /// The texts of the request that no error may repeat.
  let secrets: SentSecrets
  let now: Date

  private static let endpoint = "the registration endpoint"

  /// The members of a successful answer.
  func members(of response: HTTPResponse) throws(SQOAuthError) -> [String: JSONValue] {
    guard [200, 201].contains(response.status) else { throw failure(response) }
    guard JSONMessage.isJSON(response) else {
      throw SQOAuthError(
        .invalidResponse, "\(Self.endpoint) answered with a content type that is not JSON",
        status: response.status)
    }
    return try JSONMessage.members(of: response.body, as: "registration response")
  }

  func failure(_ response: HTTPResponse) -> SQOAuthError {
    guard response.status >= 400,
      let error = ErrorResponse(body: response.body, removing: secrets)
    else { return .failure(of: Self.endpoint, response, now: now, removing: secrets) }
    return .refusal(by: Self.endpoint, error, response, now: now)
  }

  /// The registration in an answer to a client that described itself by `metadata`, if it did.
  ///
  /// What an answer about a registration leaves out is as `earlier`.
  func registration(
    in members: [String: JSONValue], for metadata: ClientMetadata? = nil,
    after earlier: ClientRegistration? = nil
  ) throws(SQOAuthError) -> ClientRegistration {
    // Some servers write an empty text for what a client does not have.
    let reader = ClaimReader(
      claims: members.filter { $0.value != "" }, subject: "registration response",
      missing: .invalidResponse, malformed: .invalidResponse)
    let id = try reader.required("client_id", reader.text)
    guard earlier.map({ $0.clientID == id }) ?? true else {
      throw SQOAuthError(
        .registrationMismatch, "the server answered with the registration of another client")
    }
    let asked = metadata?.registeredAuthentication ?? earlier?.clientAuthentication
    let method = try Self.method(reader, asked) ?? earlier?.clientAuthentication
    let secret = try Self.secret(reader, method, earlier)
    guard Self.isSendable(id), secret.value.map(Self.isSendable) ?? true else {
      throw SQOAuthError(
        .invalidResponse, "the registered identifier or secret has characters that none may have")
    }
    var shown = members
    for name in ["client_secret", "registration_access_token"] { shown[name] = nil }
    return ClientRegistration(
      issuer: issuer, clientID: id, clientSecret: secret.value,
      clientSecretExpirationDate: secret.end,
      // RFC 7591, section 2: an absent method is Basic.
      clientAuthentication: method ?? (secret.value == nil ? .publicClient : .basic),
      redirectURIs: try reader.texts("redirect_uris") ?? earlier?.redirectURIs ?? [],
      scope: reader.claims.scope(ifMissing: earlier?.scope),
      management: try management(reader) ?? earlier?.management, members: shown,
      sentKeys: metadata.map { $0.keys.compactMap(\.publicJWK) } ?? earlier?.sentKeys
    ).ordered(as: metadata?.redirectURIs ?? earlier?.redirectURIs ?? [])
  }

  /// The client's method; glewlwyd answers with a list of those that the client may use.
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

  /// The client's secret and its end.
  ///
  /// An answer that leaves the secret out, or repeats it without its end, changes neither.
  private static func secret(
    _ reader: ClaimReader, _ method: ClientAuthentication?, _ earlier: ClientRegistration?
  ) throws(SQOAuthError) -> (value: String?, end: Date?) {
    let value = try reader.text("client_secret")
    let date = try reader.date("client_secret_expires_at")
    // RFC 7591, section 3.2.1: zero stands for a secret that does not end.
    let end = date.flatMap { $0.timeIntervalSince1970 == 0 ? nil : $0 }
    guard let earlier, value == nil || value == earlier.clientSecret else { return (value, end) }
    // A client that has changed to an authentication without a secret has none any more.
    let keepsSecret =
      method == earlier.clientAuthentication || method == .basic || method == .post
    guard value != nil || keepsSecret else { return (nil, nil) }
    return (earlier.clientSecret, date == nil ? earlier.clientSecretExpirationDate : end)
  }

  private func management(
    _ reader: ClaimReader
  ) throws(SQOAuthError) -> ClientRegistration.Management? {
    guard let address = try reader.text("registration_client_uri"),
      let token = try reader.text("registration_access_token")
    else { return nil }
    let uri = try EndpointURL.check(address, name: "address of the registration")
    guard uri.scheme?.lowercased() == "https" || issuer.lowercased().hasPrefix("http:") else {
      throw SQOAuthError(
        .insecureEndpoint,
        "the address of the registration uses http, although the issuer uses https")
    }
    guard token.isSendableToken else {
      throw SQOAuthError(
        .invalidResponse, "the token of the registration has characters that none may have")
    }
    return ClientRegistration.Management(uri: uri, accessToken: token)
  }

  // RFC 6749, appendices A.1 and A.2
  private static func isSendable(_ text: String) -> Bool {
    text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
  }
}
