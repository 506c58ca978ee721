import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads what the authorization server says about an access token.
///
/// - SeeAlso: RFC 7662, sections 2.2 and 2.3; RFC 9701, section 5
struct IntrospectionResponse: Sendable {
  let request: IntrospectionRequest
  let client: RegisteredClient

  private static let endpoint = "the introspection endpoint"
  private static let name = SignedText.introspection.name

  /// The claims of the token; `nil` if it is not active.
  func read(
    _ response: HTTPResponse, signatures: IssuerSignatures?
  ) async throws(SQOAuthError) -> AccessTokenClaims? {
    let now = client.environment.clock.now
    guard response.status == 200 else {
      guard response.status >= 400,
        let error = ErrorResponse(body: response.body, removing: request.secrets)
      else { throw .failure(of: Self.endpoint, response, now: now) }
      throw request.client.explaining(
        .refusal(by: Self.endpoint, error, response, now: now))
    }
    let rules = IntrospectionRules(
      issuer: client.metadata.issuer, clockTolerance: client.configuration.clockTolerance,
      now: now)
    if let signatures {
      return try rules.check(try await content(of: response, signatures))
    }
    guard JSONMessage.isJSON(response) else {
      throw SQOAuthError(
        .invalidResponse, "\(Self.endpoint) answered with a content type that is not JSON",
        status: 200)
    }
    return try rules.check(
      try JSONMessage.decode([String: JSONValue].self, from: response.body, as: Self.name))
  }

  /// The members of a signed answer, which must be for this resource server.
  private func content(
    of response: HTTPResponse, _ signatures: IssuerSignatures
  ) async throws(SQOAuthError) -> [String: JSONValue] {
    guard MediaType.essence(of: response.headers["Content-Type"]) == IntrospectionRequest.signedType
    else {
      throw SQOAuthError(
        .invalidResponse, "the \(Self.name) is not signed, although a signature is expected",
        status: 200)
    }
    let claims = try await signatures.claims(
      of: String(decoding: response.body, as: UTF8.self), as: .introspection)
    let reader = IntrospectionRules.reader(claims)
    let issuer = try reader.required("iss", reader.text)
    let audience = try reader.required("aud", reader.audience)
    guard issuer.utf8.elementsEqual(signatures.issuer.utf8),
      audience.contains(client.configuration.clientID)
    else {
      throw SQOAuthError(
        .invalidResponse, "the \(Self.name) is from another issuer or for another client")
    }
    guard let content = claims["token_introspection"]?.object else {
      throw SQOAuthError(.invalidResponse, "the \(Self.name) says nothing about a token")
    }
    return content
  }
}
