/// A store for the tokens of accounts, so that users need to sign in only once.
///
/// These four methods are all that an app's own store needs. A store that can do more conforms to
/// other protocols too, and the SDK then uses what they offer: ``SharedTokenStore`` for a store
/// that several processes use, ``ReservingTokenStore`` for a store whose saves can fail,
/// ``PagedTokenStore`` for a store with very many accounts, and ``SessionIndex``,
/// ``AccountQueue`` and ``ComparingTokenStore`` for a database of a server. A store that wraps
/// another store should conform to all protocols of the wrapped store and pass the calls on.
///
/// Each call is atomic: a reader sees either the old record or the new one, even if the process
/// ends during the call. Calls may come from any task. A store may throw any error. The SDK passes
/// on an ``SQOAuthError`` unchanged, and reports any other error as the cause of
/// ``SQOAuthError/Code/storeFailed``. A store's error never ends the session in memory.
public protocol TokenStore: Sendable {
  /// Loads the record of an account, or `nil` if the store has none.
  func load(_ id: String) async throws -> AccountRecord?

  /// Saves a record, and returns when the record is safely stored.
  ///
  /// The new record replaces an earlier one with the same ``AccountRecord/id``.
  func save(_ record: AccountRecord) async throws

  /// Removes the record of an account, if the store has one.
  func erase(_ id: String) async throws

  /// Lists the ids of all accounts that have a record.
  ///
  /// The SDK's stores return the ids in the order of their UTF-8 bytes, which is also the order of
  /// all records and pages.
  func list() async throws -> [String]
}

extension TokenStore {
  /// Calls the store; an error that is not an ``SQOAuthError`` becomes the cause of
  /// ``SQOAuthError/Code/storeFailed``.
  package func attempt<Value: Sendable>(
    _ purpose: String, _ body: @Sendable (Self) async throws -> Value
  ) async throws(SQOAuthError) -> Value {
    do {
      return try await body(self)
    } catch let error as SQOAuthError {
      throw error
    } catch {
      throw SQOAuthError(.storeFailed, "the token store could not \(purpose)", cause: error)
    }
  }
}
