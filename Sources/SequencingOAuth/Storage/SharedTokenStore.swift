/// A token store that several processes use at the same time.
///
/// Many servers accept a refresh token only once, so only one process at a time may refresh an
/// account's token. A store without this protocol is sufficient for a single process with one
/// session for each account.
public protocol SharedTokenStore: TokenStore {
  /// Acquires the exclusive right to change an account; returns `nil` while another caller has it.
  ///
  /// The SDK tries again until the lease is free, usually for at most two minutes. The processes of
  /// one machine can get their leases from ``AccountLocks``.
  func lease(_ id: String) async throws -> AccountLease?

  /// Describes the holder of an account's lease for an error message; returns `nil` if unknown.
  ///
  /// The default implementation returns `nil`.
  func leaseHolder(_ id: String) async -> String?

  /// Calls a closure when another process may have changed an account, until the observation ends.
  ///
  /// A session observes its account, and takes over the store's new state after each call. The
  /// closure returns immediately. The store may call it on any thread, and even if nothing has
  /// changed. The default implementation returns `nil`; then a session notices a change only when
  /// it next needs a token.
  func observe(
    _ id: String, _ onChange: @escaping @Sendable () -> Void
  ) -> AccountObservation?

  /// Waits until the store has finished the tasks that continue after its calls have returned.
  ///
  /// For example, a store in a database releases its leases and notifies other hosts of changes
  /// after a call has returned. If the program ended before that, other programs would wait
  /// unnecessarily. The SDK calls this method in ``AccountOperations/flush()``. The method should
  /// return after a few seconds in any case. The default implementation returns immediately.
  func flush() async
}

extension SharedTokenStore {
  /// Returns `nil`, because the store does not know a lease's holder.
  public func leaseHolder(_ id: String) async -> String? { nil }

  /// Returns `nil`, because the store does not report changes by other processes.
  ///
  /// A session then notices such a change only when it next needs a token.
  public func observe(
    _ id: String, _ onChange: @escaping @Sendable () -> Void
  ) -> AccountObservation? {
    nil
  }

  /// Returns immediately, because no task continues after a call has returned.
  public func flush() async {}
}

/// A token store that checks, before the SDK gets a token, that the token can be saved.
///
/// A store needs this protocol if saving can fail, for example because of a full disk, a missing
/// permission or a locked keyring.
public protocol ReservingTokenStore: TokenStore {
  /// Reserves space for the next record of an account, before a refresh token is sent.
  ///
  /// Many servers accept a refresh token only once. Before the SDK sends one, it acquires the lease
  /// of the account and calls this method with the stored record. If the method throws, the SDK
  /// does not refresh now and tries again later, unless
  /// ``ClientEnvironment/refreshesWithoutStore`` is `true`. Otherwise it passes the record with the
  /// new token to ``AccountReservation/writeAhead(_:)``, calls ``TokenStore/save(_:)``, and then
  /// calls ``AccountReservation/release()``. If no response comes, it calls only `release()`. The
  /// request ends at most 150 s after the SDK has called this method; if the machine sleeps for
  /// longer, no request is sent.
  ///
  /// Before a sign-in opens the browser, the SDK calls this method with `nil` and without the
  /// lease. The store should then check whether it could save a record, and must not change
  /// anything that another process uses.
  func reserve(
    _ id: String, replacing record: AccountRecord?
  ) async throws -> AccountReservation
}

extension TokenStore {
  /// This store if it is shared; otherwise a wrapper whose leases exclude no other caller.
  package var shared: any SharedTokenStore {
    self as? any SharedTokenStore ?? SoleStore(store: self)
  }

  /// Reserves space for a record if the store can; otherwise returns an empty reservation.
  package func reservation(
    _ id: String, replacing record: AccountRecord?
  ) async throws -> AccountReservation {
    guard let store = self as? any ReservingTokenStore else { return AccountReservation() }
    return try await store.reserve(id, replacing: record)
  }
}

/// A wrapper for a store of a single process; its leases exclude no other caller.
private struct SoleStore: SharedTokenStore {
  let store: any TokenStore

  func load(_ id: String) async throws -> AccountRecord? { try await store.load(id) }
  func save(_ record: AccountRecord) async throws { try await store.save(record) }
  func erase(_ id: String) async throws { try await store.erase(id) }
  func list() async throws -> [String] { try await store.list() }
  func lease(_ id: String) async throws -> AccountLease? { AccountLease {} }
}
