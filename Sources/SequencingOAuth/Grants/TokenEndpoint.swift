import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The token endpoint as a client sees it: sends a grant's parameters, returns the token.
///
/// - SeeAlso: RFC 6749, section 3.2
///
/// A class, because what it holds is large and goes through every step of a grant.
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

  /// Asks for a token; `scope` is what it has where the response does not say.
  ///
  /// `patience` is how long the answer is waited for, where that is longer than other answers.
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

  /// How the client authenticates here.
  func clientAuthentication() throws(SQOAuthError) -> ClientAuthentication {
    try configuration.authentication(supported: metadata.clientAuthenticationMethods)
  }

  /// Refuses a token without which the app cannot work.
  func checkScope(of token: SQToken) throws(SQOAuthError) {
    guard !configuration.requiredScopes.isEmpty else { return }
    let missing = configuration.requiredScopes.subtracting(token.scopes).sorted()
    guard missing.isEmpty else {
      throw SQOAuthError(
        .insufficientScope,
        "the token lacks: \(missing.joined(separator: " ").printable)")
    }
  }
}
