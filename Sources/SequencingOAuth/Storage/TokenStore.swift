/// A store for the tokens of accounts, so that users need to sign in only once.
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

  /// Lists the ids of all accounts that have a record, sorted.
  func list() async throws -> [String]

  /// Loads the records of all accounts, in the order of their ids.
  ///
  /// The default implementation loads them one by one.
  func all() async throws -> [AccountRecord]

  /// Loads the records of the accounts after an id, at most `limit` of them.
  ///
  /// If the id is `nil`, it starts with the first account. The order is that of the ids' UTF-8
  /// bytes. A page with fewer than `limit` records is the last one. The default implementation
  /// reads all ids for each page. That is too slow for a store with very many accounts.
  /// ``records(pageSize:)`` reads all pages.
  func page(after id: String?, limit: Int) async throws -> [AccountRecord]

  /// Acquires the exclusive right to change an account; returns `nil` while another caller has it.
  ///
  /// The SDK tries again until the lease is free. The default implementation excludes no other
  /// caller. This is sufficient for a store that only one process uses, with one session for each
  /// account. A store that several processes share can get its leases from ``AccountLocks``.
  func lease(_ id: String) async throws -> AccountLease?

  /// Describes the holder of an account's lease for an error message; returns `nil` if unknown.
  ///
  /// The default implementation returns `nil`.
  func leaseHolder(_ id: String) async -> String?

  /// Calls a closure when another process may have changed an account, until the observation ends.
  ///
  /// A session observes its account, and then takes over the store's new state. The closure returns
  /// immediately. The store may call it on any thread, and even if nothing has changed. The default
  /// implementation returns `nil`; then a session notices a change only when it next needs a token.
  func observe(
    _ id: String, _ onChange: @escaping @Sendable () -> Void
  ) -> AccountObservation?

  /// Reserves space for the next record of an account, before a refresh token is sent.
  ///
  /// Many servers accept a refresh token only once. Before the SDK sends one, it acquires the lease
  /// of the account and calls this method with the stored record. If the method throws, the SDK
  /// does not refresh now and tries again later. Otherwise it passes the record with the new token
  /// to ``AccountReservation/writeAhead(_:)``, calls ``save(_:)``, and then calls
  /// ``AccountReservation/release()``. If no response comes, it calls only `release()`.
  ///
  /// Before a sign-in opens the browser, the SDK calls this method with `nil` and without the
  /// lease. The store should then check whether it could save a record, and must not change
  /// anything that another process uses.
  ///
  /// The default implementation checks nothing. If saving can fail in a store, for example because
  /// of a full disk or a missing permission, the store should find that out here.
  func reserve(
    _ id: String, replacing record: AccountRecord?
  ) async throws -> AccountReservation

  /// Waits for the end of work that continues after the store's calls have returned.
  ///
  /// For example, a store in a database releases its leases and notifies other hosts of changes in
  /// this way. If the program ended before that, other programs would wait for nothing. The SDK
  /// calls this method in ``AccountOperations/flush()``. It should return after a few seconds in
  /// any case. The default implementation returns immediately.
  func flush() async
}

extension TokenStore {
  /// Loads the records of all accounts, one by one.
  public func all() async throws -> [AccountRecord] {
    var records: [AccountRecord] = []
    for id in try await list() {
      // Another process may have erased a record since the ids were listed.
      if let record = try await load(id) { records.append(record) }
    }
    return records
  }

  /// Lists all ids, and loads the records of one page.
  public func page(after id: String?, limit: Int) async throws -> [AccountRecord] {
    var ids = try await list().page(after: id, limit: .max)[...]
    var records: [AccountRecord] = []
    // Another process may have erased a record since the ids were listed.
    while records.count < limit, let next = ids.popFirst() {
      if let record = try await load(next) { records.append(record) }
    }
    return records
  }

  /// Returns a lease that excludes no other caller.
  public func lease(_ id: String) async throws -> AccountLease? { AccountLease {} }

  /// Returns `nil`, because the store does not know a lease's holder.
  public func leaseHolder(_ id: String) async -> String? { nil }

  /// Returns `nil`, because the store does not know about other processes.
  public func observe(
    _ id: String, _ onChange: @escaping @Sendable () -> Void
  ) -> AccountObservation? {
    nil
  }

  /// Returns an empty reservation, so the record is stored only by ``save(_:)``.
  public func reserve(
    _ id: String, replacing record: AccountRecord?
  ) async throws -> AccountReservation {
    AccountReservation()
  }

  /// Returns immediately, because no work continues after a call has returned.
  public func flush() async {}
}

extension TokenStore {
  /// Calls the store, and converts other errors into ``SQOAuthError/Code/storeFailed``.
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
