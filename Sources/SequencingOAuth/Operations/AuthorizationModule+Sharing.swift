import SQBasics
import SQCrypto

// Sign-ins of accounts and clients that several programs share.
extension AuthorizationModule {
  /// Runs work while no other session, in this process or another, changes the account.
  ///
  /// If the store fails to lock the account, the work runs without the lock. `hasWaited` is `true`
  /// if another session had the account locked for more than a second.
  ///
  /// - Throws: ``SQOAuthError/Code/accountInUse`` if the wait for another session takes longer than
  ///   `limit`; ``SQOAuthError/Code/cancelled`` if the task is cancelled during the wait.
  package func alone<Value>(
    within limit: Duration, _ work: (_ hasWaited: Bool) async throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    try await session.account.leased(within: limit) { outcome throws(SQOAuthError) in
      switch outcome {
      case .success(let waited):
        return try await work(waited > .seconds(1))
      case .failure(let error):
        if [.accountInUse, .cancelled].contains(error.code) { throw error }
        return try await work(false)
      }
    }
  }

  /// Returns whether the authorization server says that it does not know the client.
  package func isClientUnknown() async -> Bool {
    let client = try? await context.client()
    return await client?.refusalOfRandomCode()?.code == .invalidClient
  }
}

extension RegisteredClient {
  /// Sends a token request with a random code that no server has issued, and returns the error.
  ///
  /// The result is `nil` if the client has no redirect URI, so that it cannot use codes.
  func refusalOfRandomCode() async -> SQOAuthError? {
    guard let redirect = configuration.redirectURI else { return nil }
    do throws(SQOAuthError) {
      _ = try await token(
        [
          .init("grant_type", "authorization_code"), .init("code", RandomString.make()),
          .init("redirect_uri", redirect.string), .init("code_verifier", PKCE().verifier),
        ], scope: nil)
      return nil
    } catch {
      return error
    }
  }
}
