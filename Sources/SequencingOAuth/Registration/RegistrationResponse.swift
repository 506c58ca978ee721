#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads what a server has registered, and compares it with what was asked for.
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
    return try JSONMessage.decode(
      [String: JSONValue].self, from: response.body, as: "registration response")
  }

  func failure(_ response: HTTPResponse) -> SQOAuthError {
    guard response.status >= 400,
      let error = ErrorResponse(body: response.body, removing: secrets)
    else { return .failure(of: Self.endpoint, response, now: now) }
    return .refusal(by: Self.endpoint, error, response, now: now)
  }

  /// The registration in an answer.
  ///
  /// What an answer about a registration leaves out is as `earlier`.
  func registration(
    in members: [String: JSONValue], after earlier: ClientRegistration? = nil
  ) throws(SQOAuthError) -> ClientRegistration {
    let reader = ClaimReader(
      claims: members, subject: "registration response", missing: .invalidResponse,
      malformed: .invalidResponse)
    let id = try reader.required("client_id", reader.text)
    guard earlier.map({ $0.clientID == id }) ?? true else {
      throw SQOAuthError(
        .registrationMismatch, "the server answered with the registration of another client")
    }
    let secret = try reader.text("client_secret") ?? earlier?.clientSecret
    guard Self.isSendable(id), secret.map(Self.isSendable) ?? true else {
      throw SQOAuthError(
        .invalidResponse, "the registered identifier or secret has characters that none may have")
    }
    let end = try reader.date("client_secret_expires_at")
    let method = try Self.method(reader, earlier?.clientAuthentication)
    var shown = members
    for name in ["client_secret", "registration_access_token"] { shown[name] = nil }
    return ClientRegistration(
      issuer: issuer, clientID: id, clientSecret: secret,
      clientSecretExpirationDate: end.flatMap { $0.timeIntervalSince1970 == 0 ? nil : $0 },
      // RFC 7591, section 2: an absent method is Basic.
      clientAuthentication: method ?? (secret == nil ? .publicClient : .basic),
      redirectURIs: try reader.texts("redirect_uris") ?? [],
      scope: try reader.text("scope"),
      management: try management(reader) ?? earlier?.management, members: shown)
  }

  /// The client's method; glewlwyd answers with a list of those that the client may use.
  private static func method(
    _ reader: ClaimReader, _ earlier: ClientAuthentication?
  ) throws(SQOAuthError) -> ClientAuthentication? {
    let name = "token_endpoint_auth_method"
    guard reader.claims[name]?.array != nil else {
      return try reader.text(name).map(ClientAuthentication.init(rawValue:))
    }
    let methods = try reader.texts(name)?.map(ClientAuthentication.init(rawValue:)) ?? []
    if let earlier, methods.contains(earlier) { return earlier }
    return methods.first(where: supported.contains) ?? methods.first
  }

  private static let supported: [ClientAuthentication] = [
    .publicClient, .basic, .post, .privateKeyJWT,
  ]

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

  /// Whether an answer has the client's keys, or leaves the keys out.
  private static func hasKeys(of metadata: ClientMetadata, _ answer: JSONValue?) -> Bool {
    guard let answer, !metadata.keys.isEmpty else { return true }
    // A server may add members to a key, or leave out what is not the key itself.
    func halves(_ keys: [JSONValue]) -> Set<[String: JSONValue]> {
      Set(keys.compactMap { $0.object?.filter { JWKText.publicNames.contains($0.key) } })
    }
    return halves(answer["keys"].array ?? []) == halves(metadata.keys.compactMap(\.publicJWK))
  }

  /// Throws unless a registration is what was asked for, as far as the client relies on it.
  static func check(
    _ registration: ClientRegistration, against metadata: ClientMetadata
  ) throws(SQOAuthError) {
    func require(_ condition: Bool, _ reason: String) throws(SQOAuthError) {
      guard condition else {
        throw SQOAuthError(.registrationMismatch, "the server registered \(reason)")
      }
    }
    try require(
      registration.redirectURIs.sorted() == metadata.redirectURIs.sorted(),
      "other redirect URIs than those that were asked for, so users might be sent elsewhere")
    try require(
      supported.contains(registration.clientAuthentication),
      "the client for an authentication that this SDK does not have")
    try require(
      registration.clientSecret != nil
        || [.publicClient, .privateKeyJWT].contains(registration.clientAuthentication),
      "the client for an authentication by a secret, and sent none")
    try require(
      registration.clientAuthentication != .privateKeyJWT
        || metadata.clientAuthentication == .privateKeyJWT,
      "the client for an authentication by a signed token, which was not asked for")
    try require(
      hasKeys(of: metadata, registration.members["jwks"]),
      "other keys of the client than those that were sent")
    let granted = registration.members["grant_types"]?.array?.compactMap(\.string)
    let lost = granted.map { granted in metadata.grantTypes.filter { !granted.contains($0) } } ?? []
    // Without refresh tokens the client still works.
    try require(
      lost.allSatisfy { $0 == "refresh_token" }, "the client without a grant that it needs")
  }
}
