import SQBasics

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
  /// Where the answer comes from: the registration endpoint, or the registration's own address;
  /// `nil` stands for the issuer.
  var address: URL?

  private static let endpoint = "the registration endpoint"

  /// The members of a successful answer.
  func members(of response: HTTPResponse) throws(SQOAuthError) -> [String: JSONValue] {
    guard [200, 201].contains(response.status) else { throw failure(response) }
    guard JSONMessage.isJSON(response) else {
      throw SQOAuthError(
        .invalidResponse,
        "\(Self.endpoint) answered with \(MediaType.description(of: response)), which is not JSON",
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
    let reader = Self.reader(of: members)
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
      management: management(reader, after: earlier), members: shown,
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

  private static func reader(of members: [String: JSONValue]) -> ClaimReader {
    // Some servers write an empty text for what a client does not have.
    var claims = members.filter { $0.value != "" }
    let end = "client_secret_expires_at"
    // Others write times as texts.
    if let digits = claims[end]?.string, let seconds = Int64(digits), seconds >= 0 {
      claims[end] = .integer(seconds)
    }
    return ClaimReader(
      claims: claims, subject: "registration response", missing: .invalidResponse,
      malformed: .invalidResponse)
  }

  // MARK: Managing

  /// Where an answer that was refused lets its client be deleted; `nil` if it does not.
  func management(ofRefused response: HTTPResponse) -> ClientRegistration.Management? {
    guard [200, 201].contains(response.status),
      let members = JSONMessage.members(of: response.body)
    else { return nil }
    return management(Self.reader(of: members), after: nil)
  }

  /// What an answer leaves out is as before, since a server may replace the token alone.
  ///
  /// A token that cannot be used counts as left out: without one the client works, but cannot manage
  /// itself.
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

  /// The address of the registration; `nil` if it is missing or cannot be used.
  ///
  /// Without one the client works, but cannot manage itself. The address must be at the server that
  /// answered: a server that chose the address, the token and, by its other answers, the method,
  /// could otherwise have any request sent to another server in the client's network.
  private func managementURI(_ reader: ClaimReader) -> URL? {
    guard let text = reader.claims["registration_client_uri"]?.string,
      EndpointURL.hasOnlyURLCharacters(text),
      let address = address ?? URL(string: issuer),
      // Some servers write a path.
      let absolute = URL(string: text, relativeTo: address)?.absoluteString,
      let uri = try? EndpointURL.check(absolute, name: "address of the registration"),
      let origin = try? ResourceOrigin(uri), origin == (try? ResourceOrigin(address))
    else { return nil }
    return uri
  }

  // RFC 6749, appendices A.1 and A.2
  private static func isSendable(_ text: String) -> Bool {
    text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
  }
}
