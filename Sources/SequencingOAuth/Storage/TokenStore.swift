/// Keeps the tokens of accounts, so that a user signs in only once.
///
/// Each call is atomic: a reader sees the old record or the new one, never a mixture, even if the
/// process ends during the call. Calls may come from any task. A store may throw any error. The SDK
/// passes on an ``SQOAuthError`` as it is, and reports any other error as the cause of
/// ``SQOAuthError/Code/storeFailed``. An error of the store never ends the session in memory.
public protocol TokenStore: Sendable {
  /// Loads the record of an account, or `nil` if the store has none.
  func load(_ id: String) async throws -> AccountRecord?

  /// Saves a record, and returns when the record is safe.
  ///
  /// The new record replaces an earlier one with its ``AccountRecord/id``.
  func save(_ record: AccountRecord) async throws

  /// Removes the record of an account, if the store has one.
  func erase(_ id: String) async throws

  /// Lists the ids of all accounts that have a record, sorted.
  func list() async throws -> [String]

  /// Loads the records of all accounts, in the order of their ids.
  ///
  /// The default loads them one by one.
  func all() async throws -> [AccountRecord]

  /// Loads the records of the accounts that follow an id, at most `limit` of them.
  ///
  /// With `nil` it begins with the first account. The order is that of the ids' UTF-8 bytes. A page
  /// that is shorter than `limit` is the last one. The default reads all ids for each page; a store
  /// for very many accounts should do better. ``records(pageSize:)`` goes through all pages.
  func page(after id: String?, limit: Int) async throws -> [AccountRecord]

  /// Takes the exclusive right to change an account; returns `nil` while another caller has it.
  ///
  /// The SDK asks again until the lease is free. The default excludes no other caller. That is
  /// enough for a store that only one process uses, with one session for each account. A store that
  /// several processes share gets its leases from ``AccountLocks``.
  func lease(_ id: String) async throws -> AccountLease?

  /// Describes the holder of an account's lease for an error message; `nil` if it is not known.
  ///
  /// The default returns `nil`.
  func leaseHolder(_ id: String) async -> String?

  /// Calls a closure when another process may have changed an account, until the observation ends.
  ///
  /// A session observes its account and takes over what the store has then. The closure returns at
  /// once; the store may call it from any thread, and also when nothing has changed. The default
  /// returns `nil`: then a session notices a change when it next needs a token.
  func observe(
    _ id: String, _ onChange: @escaping @Sendable () -> Void
  ) -> AccountObservation?

  /// Makes sure that the next record of an account can be saved, before a refresh token is sent.
  ///
  /// Many servers accept a refresh token only once. Before the SDK sends one, it takes the lease of
  /// the account and calls this with the stored record. If this throws, the SDK does not refresh
  /// now and tries again later. Otherwise it passes the record with the new token to
  /// ``AccountReservation/land(_:)``, calls ``save(_:)``, and then calls
  /// ``AccountReservation/release()``. If no answer comes, it only releases.
  ///
  /// Before a sign-in opens the browser, the SDK calls this with `nil` and without the lease. The
  /// store then checks whether it could save a record, and changes nothing that another process
  /// uses.
  ///
  /// The default checks nothing. If `save` can fail in a store, for example on a full disk or
  /// without a permission, the store should find that out here.
  func reserve(
    _ id: String, replacing record: AccountRecord?
  ) async throws -> AccountReservation

  /// Waits until the work has ended that goes on after the store's calls have returned.
  ///
  /// A store in a database gives its leases back and tells other hosts of a change in this way. If
  /// the program ended before, other programs would wait in vain. The SDK calls this in
  /// ``AuthorizationModule/settle()``. It should return after a few seconds, whatever happens. The
  /// default returns at once.
  func settle() async
}

extension TokenStore {
  /// Loads the records of all accounts, one by one.
  public func all() async throws -> [AccountRecord] {
    var records: [AccountRecord] = []
    for id in try await list() {
      // Another process may have erased a record since the list was made.
      if let record = try await load(id) { records.append(record) }
    }
    return records
  }

  /// Lists all ids, and loads the records of one page.
  public func page(after id: String?, limit: Int) async throws -> [AccountRecord] {
    var ids = try await list().page(after: id, limit: .max)[...]
    var records: [AccountRecord] = []
    // Another process may have erased a record since the list was made.
    while records.count < limit, let next = ids.popFirst() {
      if let record = try await load(next) { records.append(record) }
    }
    return records
  }

  /// Returns a lease that excludes no other caller.
  public func lease(_ id: String) async throws -> AccountLease? { AccountLease {} }

  /// Returns `nil`, since the store does not know a lease's holder.
  public func leaseHolder(_ id: String) async -> String? { nil }

  /// Returns `nil`, since the store does not know what other processes do.
  public func observe(
    _ id: String, _ onChange: @escaping @Sendable () -> Void
  ) -> AccountObservation? {
    nil
  }

  /// Returns a reservation that keeps nothing: the record is stored only by ``save(_:)``.
  public func reserve(
    _ id: String, replacing record: AccountRecord?
  ) async throws -> AccountReservation {
    AccountReservation()
  }

  /// Returns at once: all work has ended when a call returns.
  public func settle() async {}
}

extension TokenStore {
  /// Calls the store, and turns a foreign error into ``SQOAuthError/Code/storeFailed``.
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
