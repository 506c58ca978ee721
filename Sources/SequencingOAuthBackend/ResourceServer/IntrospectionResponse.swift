import SQBasics
import SQFoundation
import SequencingOAuth

/// A reader for the authorization server's response about an access token.
///
/// - SeeAlso: RFC 7662, sections 2.2 and 2.3; RFC 9701, section 5
struct IntrospectionResponse: Sendable {
  let request: IntrospectionRequest
  let client: RegisteredClient
  /// Whether a response without `token_type` is rejected.
  let requiresTokenType: Bool

  private static let endpoint = "the introspection endpoint"
  private static let name = SignedText.introspection.name

  /// Returns the claims of the token; `nil` if it is not active.
  func read(
    _ response: WebResponse, signatures: IssuerSignatures?
  ) async throws(SQOAuthError) -> AccessTokenClaims? {
    let now = client.environment.clock.now
    guard response.status == 200 else {
      throw request.client.explaining(
        failure(response, at: now), after: response, at: now)
    }
    let rules = IntrospectionRules(
      issuer: client.metadata.issuer, clockTolerance: client.configuration.clockTolerance,
      now: now, requiresTokenType: requiresTokenType)
    if let signatures {
      return try rules.check(try await content(of: response, signatures, at: now))
    }
    guard JSONMessage.isJSON(response) else {
      throw SQOAuthError(
        .invalidResponse,
        "\(Self.endpoint) answered with \(contentType(of: response)), which is not JSON",
        status: 200)
    }
    return try rules.check(
      try JSONMessage.members(of: response.body, as: Self.name))
  }

  private func contentType(of response: WebResponse) -> String {
    MediaType.description(of: response, removing: request.secrets)
  }

  private func failure(_ response: WebResponse, at now: Date) -> SQOAuthError {
    guard response.status >= 400,
      let error = ErrorResponse(body: response.body, removing: request.secrets)
    else {
      return .failure(of: Self.endpoint, response, now: now, removing: request.secrets)
    }
    return .refusal(by: Self.endpoint, error, response, now: now)
  }

  /// Returns the members of a signed response; throws if the response is from another issuer, for
  /// another client or about another request.
  private func content(
    of response: WebResponse, _ signatures: IssuerSignatures, at now: Date
  ) async throws(SQOAuthError) -> [String: JSONValue] {
    guard MediaType.essence(of: response.headers["Content-Type"]) == IntrospectionRequest.signedType
    else {
      throw SQOAuthError(
        .invalidResponse,
        "the \(Self.name) is not marked as signed, although a signature is expected: it has "
          + "\(contentType(of: response)) and not \(IntrospectionRequest.signedType)",
        status: 200)
    }
    let claims = try await signatures.claims(
      of: SignedText.compactForm(in: response.body), as: .introspection)
    let reader = IntrospectionRules.reader(claims)
    let issuer = try reader.required("iss", reader.text)
    let audience = try reader.required("aud", reader.audience)
    guard issuer == signatures.issuer,
      audience.contains(client.configuration.clientID)
    else {
      throw SQOAuthError(
        .invalidResponse, "the \(Self.name) is from another issuer or for another client")
    }
    guard let content = claims["token_introspection"]?.object else {
      throw SQOAuthError(.invalidResponse, "the \(Self.name) has no object \"token_introspection\"")
    }
    guard isNew(try reader.required("iat", reader.date), at: now) else {
      throw SQOAuthError(
        .invalidResponse,
        "the \(Self.name) is from another time than the request (\"iat\"), so it may be an old one; "
          + "compare this machine's clock with the server's")
    }
    guard isAboutToken(content) else {
      throw SQOAuthError(.invalidResponse, "the \(Self.name) is about another token (\"jti\")")
    }
    return content
  }

  /// Returns whether the response is recent enough to be the response to this request.
  ///
  /// Without this check, a proxy could repeat a stored response from the time before the token was
  /// revoked.
  private func isNew(_ date: Date, at now: Date) -> Bool {
    let tolerance = client.configuration.clockTolerance.seconds
    // The request began at most one time limit ago, and the server created its response after that.
    let earliest = now.addingTimeInterval(-tolerance - request.timeout.seconds)
    return earliest <= date && date <= now.addingTimeInterval(tolerance)
  }

  /// Returns `false` if the response and the request's token have different identifiers (`jti`).
  ///
  /// The method does not verify the token's signature, because the server does not report a forged
  /// token as active.
  private func isAboutToken(_ content: [String: JSONValue]) -> Bool {
    guard let named = content["jti"]?.string,
      let token = try? CompactJWS(request.token).claims()["jti"]?.string
    else { return true }
    return token == named
  }
}
