import SQBasics
import SQFoundation

/// A request to the UserInfo endpoint, and the check of its response.
///
/// - SeeAlso: OpenID Connect Core 1.0, sections 5.3.1 to 5.3.4
struct UserInfoRequest: Sendable {
  let endpoint: URL
  private let client: RegisteredClient

  /// Creates a client's request; throws if its provider has no UserInfo endpoint.
  init(_ client: RegisteredClient) throws(SQOAuthError) {
    guard let endpoint = try client.metadata.address(of: .userInfo) else {
      throw SQOAuthError(
        .invalidConfiguration,
        "the provider has no UserInfo endpoint; the user's claims are those of the ID token")
    }
    self.endpoint = endpoint
    self.client = client
  }

  /// Returns the HTTP request, without the token.
  func httpRequest() -> WebRequest {
    let configuration = client.configuration
    // Some providers sign the response only if the request accepts no other type.
    let types =
      configuration.userInfoAlgorithm == nil
      ? "application/json, application/jwt" : "application/jwt"
    var request = WebRequest(url: endpoint, headers: ["Accept": types])
    request.timeout = configuration.timeout
    return request
  }

  /// Validates the response, and returns its claims about the user of the ID token.
  ///
  /// If the response is signed, the issuer's keys are fetched if they are not in memory. An error
  /// for a response with a status other than 200 does not contain the request's `secrets`, even if
  /// the server repeats them.
  func read(
    _ response: WebResponse, of idToken: IDToken, removing secrets: SentSecrets
  ) async throws(SQOAuthError) -> UserInfo {
    guard response.status == 200 else {
      throw .failure(
        of: "the UserInfo endpoint", response, now: client.environment.clock.now,
        removing: secrets)
    }
    if MediaType.essence(of: response.headers["Content-Type"]) == "application/jwt" {
      return try UserInfo(try await signedClaims(response), of: idToken)
    }
    guard JSONMessage.isJSON(response) else {
      throw SQOAuthError(
        .userInfoInvalid,
        "the UserInfo response has \(MediaType.description(of: response, removing: secrets)), "
          + "but must be JSON or a signed JWT (application/jwt)",
        status: response.status)
    }
    guard client.configuration.userInfoAlgorithm == nil else {
      throw SQOAuthError(
        .userInfoInvalid,
        "the UserInfo response is not signed, although the client expects a signature "
          + "(userInfoAlgorithm)")
    }
    let claims = try JSONMessage.members(of: response.body, as: SignedText.userInfo.name)
    return try UserInfo(claims, of: idToken)
  }

  private func signedClaims(
    _ response: WebResponse
  ) async throws(SQOAuthError) -> [String: JSONValue] {
    let signatures = try client.signatures(of: .userInfo)
    let text = SignedText.compactForm(in: response.body)
    let claims = try await signatures.claims(of: text, as: .userInfo)
    let reader = ClaimReader(
      claims: claims, subject: SignedText.userInfo.name, missing: .userInfoInvalid,
      malformed: .userInfoInvalid)
    // OpenID Connect Core 1.0, section 5.3.2, requires `iss` and `aud`, but many providers leave
    // them out.
    let issuer = try reader.possibleText("iss")
    let audience = try reader.possibleAudience("aud") ?? []
    guard issuer == nil || issuer == signatures.issuer,
      audience.isEmpty || audience.contains(client.configuration.clientID)
    else {
      throw SQOAuthError(
        .userInfoInvalid, "the UserInfo response is from another issuer or for another client")
    }
    return claims
  }
}
