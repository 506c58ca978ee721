/// Keeps the tokens of accounts, so that a user signs in once.
///
/// Each call is atomic: a reader sees the old record or the new one, whatever happens in between.
/// Calls come from any task. A store may throw any error, which the SDK reports as
/// ``SQOAuthError/Code/storeFailed`` with that error as its cause (an ``SQOAuthError`` as it is);
/// an error never costs the session in memory.
public protocol TokenStore: Sendable {
  /// The record of an account, or `nil` where there is none.
  func load(_ id: String) async throws -> AccountRecord?

  /// Adds a record or replaces the one of the same ``AccountRecord/id``; returns when it is safe.
  func save(_ record: AccountRecord) async throws

  /// Removes the record of an account, if there is one.
  func erase(_ id: String) async throws

  /// The accounts that have a record, in the order of their names.
  func list() async throws -> [String]

  /// All records, in the order of their names; by default each is loaded.
  func all() async throws -> [AccountRecord]

  /// The right to change an account, or `nil` while somebody else has it.
  ///
  /// The SDK asks again until it is free. A store that only one process uses, and one session of
  /// an account in it, needs none, which is the default; one that several share gets it from
  /// ``AccountLocks``.
  func lease(_ id: String) async throws -> AccountLease?

  /// Who has the lease of an account, in words for an error message, if that is known.
  ///
  /// By default it is not.
  func leaseHolder(_ id: String) async -> String?

  /// Makes sure that the next record of an account can be kept, before anything is spent for it.
  ///
  /// Many servers accept a refresh token once. Before the SDK sends one, it calls this in the
  /// account's lease with the record that is stored; what it throws stops the refresh, which is
  /// tried again later. The SDK then gives the answer to ``AccountReservation/land(_:)``, calls
  /// ``save(_:)``, and calls ``AccountReservation/release()``; where no answer comes, it only
  /// releases.
  ///
  /// Before a sign-in opens the browser it is called with `nil`, and without the lease. It then
  /// finds out whether a record could be saved, and changes nothing that another process uses.
  ///
  /// By default it makes sure of nothing: a store whose `save` can fail, for a full disk or for
  /// want of a right, should find that out here.
  func reserve(
    _ id: String, replacing record: AccountRecord?
  ) async throws -> AccountReservation
}

extension TokenStore {
  /// All records, one by one.
  public func all() async throws -> [AccountRecord] {
    var records: [AccountRecord] = []
    for id in try await list() {
      // One may have gone meanwhile.
      if let record = try await load(id) { records.append(record) }
    }
    return records
  }

  /// A lease that excludes nobody.
  public func lease(_ id: String) async throws -> AccountLease? { AccountLease {} }

  /// Nothing is known of the lease's holder.
  public func leaseHolder(_ id: String) async -> String? { nil }

  /// A reservation of nothing: the record goes straight to ``save(_:)``.
  public func reserve(
    _ id: String, replacing record: AccountRecord?
  ) async throws -> AccountReservation {
    AccountReservation()
  }
}

extension TokenStore {
  /// Runs one call and gives its failure a type and a message.
  func attempt<Value: Sendable>(
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
