import SQBasics
import SQCrypto

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  import Foundation
#endif

/// How the client proves its identity to the endpoints of its server.
extension RegisteredClient {
  /// The client's credentials for one request to the token endpoint, or to one that takes the same
  /// methods.
  func credentials(at endpoint: URL) async throws(SQOAuthError) -> ClientCredentials {
    try await proving(unprovenCredentials(supported: nil), at: endpoint)
  }

  /// The client's credentials at an endpoint that lists its own methods, without an assertion.
  ///
  /// An endpoint without a list takes the methods of the token endpoint (RFC 8414, section 2). A
  /// client that signs does so everywhere: servers that accept it forget to list it, and what it
  /// signs is of no use to anyone else.
  package func unprovenCredentials(
    supported: [String]?
  ) throws(SQOAuthError) -> ClientCredentials {
    let methods = metadata.clientAuthenticationMethods
    let signs = (try? configuration.authentication(supported: methods)) == .privateKeyJWT
    return ClientCredentials(
      id: configuration.clientID, secret: configuration.clientSecret,
      authentication: signs
        ? .privateKeyJWT : try configuration.authentication(supported: supported ?? methods))
  }

  /// The credentials with a new assertion, if the method needs one; good for one request.
  package func proving(
    _ credentials: ClientCredentials, at endpoint: URL
  ) async throws(SQOAuthError) -> ClientCredentials {
    guard credentials.authentication == .privateKeyJWT else { return credentials }
    var credentials = credentials
    credentials.assertion = try await sign(
      JWTAssertion(issuer: configuration.clientID, subject: configuration.clientID),
      for: endpoint)
    return credentials
  }

  /// An assertion, signed with the client's key.
  ///
  /// Each has an identifier of its own, so that a server can refuse what it has seen. It is good
  /// until clocks that differ as much as they may agree that its time is over.
  ///
  /// - SeeAlso: RFC 7523, section 3
  func sign(
    _ assertion: JWTAssertion, for endpoint: URL
  ) async throws(SQOAuthError) -> String {
    guard let key = configuration.clientKey else {
      throw SQOAuthError(
        .invalidConfiguration,
        "the client has no key to sign with; set the configuration's clientKey"
      )
    }
    let now = environment.clock.now.timeIntervalSince1970
    let end = now + (assertion.lifetime + configuration.clockTolerance).seconds
    let issuer = assertion.issuer ?? configuration.clientID
    var claims: [String: JSONValue] = [
      "iss": .string(issuer), "sub": .string(assertion.subject ?? issuer),
      "aud": .string(assertion.audience ?? audience(at: endpoint)),
      "iat": Self.time(now), "exp": Self.time(end),
      "jti": .string(RandomString.make()),
    ]
    for (name, value) in assertion.additionalClaims {
      claims[name] = value == .null ? nil : value
    }
    return try await key.sign(claims)
  }

  private static func time(_ seconds: Double) -> JSONValue {
    .integer(Int64(exactly: seconds.rounded(.down)) ?? .max)
  }

  /// The name of the server in what the client signs.
  ///
  /// It is one text and not a list, so that no other server can take it for its own.
  private func audience(at endpoint: URL) -> String {
    switch configuration.provider.assertionAudience {
    case .issuer: metadata.issuer ?? metadata.tokenEndpoint.absoluteString
    case .tokenEndpoint: metadata.tokenEndpoint.absoluteString
    case .requestedEndpoint: endpoint.absoluteString
    case .other(let name): name
    }
  }
}
