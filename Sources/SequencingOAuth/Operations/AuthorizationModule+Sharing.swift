import SQBasics
import SQCrypto

// Sign-ins of accounts and clients that several programs share.
extension AuthorizationModule {
  /// Runs work while no other session changes the account, in this process or another.
  ///
  /// After two minutes of waiting for another process, it runs nevertheless.
  package func alone<Value, Failure>(
    _ work: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    try await session.account.leased { _ throws(Failure) in try await work() }
  }

  /// Returns whether the authorization server says that it does not know the client.
  ///
  /// It sends a token request with a code that no server has issued.
  package func isClientUnknown() async -> Bool {
    do throws(SQOAuthError) {
      let client = try await context.client()
      guard let redirect = client.configuration.redirectURI else { return false }
      _ = try await client.token(
        [
          .init("grant_type", "authorization_code"), .init("code", RandomString.make()),
          .init("redirect_uri", redirect.string), .init("code_verifier", PKCE().verifier),
        ], scope: nil)
      return false
    } catch {
      return error.code == .invalidClient
    }
  }
}
