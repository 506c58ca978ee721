import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A client at its authorization server: sends a grant's parameters and returns the token.
///
/// - SeeAlso: RFC 6749, section 3.2
///
/// It is a class because its content is large and every step of a grant passes it on.
final class TokenEndpoint: Sendable {
  let configuration: ClientConfiguration
  let environment: ClientEnvironment
  let metadata: ProviderMetadata

  init(
    configuration: ClientConfiguration, environment: ClientEnvironment, metadata: ProviderMetadata
  ) {
    self.configuration = configuration
    self.environment = environment
    self.metadata = metadata
  }

  /// Asks for a token; if the response names no scope, the token has `scope`.
  ///
  /// The answer is waited for at least as long as `patience`.
  func token(
    _ parameters: [FormCoding.Pair], at endpoint: URL? = nil, scope: String?,
    patience: Duration = .zero
  ) async throws(SQOAuthError) -> SQToken {
    let request = TokenRequest(
      endpoint: endpoint ?? metadata.tokenEndpoint,
      parameters: parameters + configuration.tokenParameters,
      clientID: configuration.clientID, clientSecret: configuration.clientSecret,
      authentication: try clientAuthentication(), timeout: configuration.timeout,
      patience: patience)
    let answer = try await environment.httpClient.exchange(request.httpRequest())
    let context = TokenResponseContext(
      receivedAt: environment.clock.now, requestedScope: scope,
      quirks: configuration.provider.tokenResponseQuirks)
    return try TokenResponse(
      parser: environment.tokenResponseParser, context: context, request: request
    ).read(answer)
  }

  /// How the client authenticates at this server.
  func clientAuthentication() throws(SQOAuthError) -> ClientAuthentication {
    try configuration.authentication(supported: metadata.clientAuthenticationMethods)
  }

  /// Throws if the token lacks a scope that the app requires.
  func checkScope(of token: SQToken) throws(SQOAuthError) {
    guard !configuration.requiredScopes.isEmpty else { return }
    let missing = configuration.requiredScopes.subtracting(token.scopes).sorted()
    guard missing.isEmpty else {
      throw SQOAuthError(
        .insufficientScope,
        "the token lacks scopes that the app requires: \(missing.joined(separator: " ").printable)")
    }
  }
}
