import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The account that an earlier run has kept.
struct StoredAccount {
  let record: AccountRecord

  /// The account in a store, if there is one.
  static func load(from store: any TokenStore) async throws(Failure) -> StoredAccount? {
    try await attempt { try await store.load(CommandLineSignIn.accountID) }
      .map(StoredAccount.init)
  }

  /// Takes the account out of a store.
  static func erase(from store: any TokenStore) async throws(Failure) {
    try await attempt { try await store.erase(CommandLineSignIn.accountID) }
  }

  /// The token, if it is the one that the options mean and has not expired.
  func usableToken(for options: SignInOptions, at date: Date) throws(Failure) -> SQToken {
    if let client = options.configuration {
      guard client.clientID == record.clientID,
        options.issuer == nil || options.issuer == record.issuer
      else {
        throw Self.notAuthorized("the account that is kept belongs to another client or server")
          .withHint("Sign in with 'sq-demo login', or name another --store.")
      }
    }
    guard !record.token.isExpired(at: date) else {
      throw Self.notAuthorized("the access token has expired")
        .withHint("Sign in again with 'sq-demo login'.")
    }
    return record.token
  }

  private static func notAuthorized(_ message: String) -> Failure {
    Failure(SQOAuthError(.notAuthorized, message))
  }

  private static func attempt<Value>(
    _ body: () async throws -> Value
  ) async throws(Failure) -> Value {
    do {
      return try await body()
    } catch let error as SQOAuthError {
      throw Failure(error)
    } catch {
      throw Failure(SQOAuthError(.storeFailed, "the token store failed"))
    }
  }
}
