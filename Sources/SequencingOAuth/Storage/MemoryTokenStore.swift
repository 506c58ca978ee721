import SQBasics

/// A store of tokens in memory; they are lost when the process ends.
public final class MemoryTokenStore: TokenStore {
  private let records = Locked(TextDictionary<AccountRecord>())

  /// Creates an empty store.
  public init() {}

  /// Loads the record of an account, or `nil` if the store has none.
  public func load(_ id: String) async -> AccountRecord? {
    records.withLock { $0[id] }
  }

  /// Saves a record in place of the account's earlier record.
  public func save(_ record: AccountRecord) async {
    records.withLock { $0[record.id] = record }
  }

  /// Removes the record of an account.
  public func erase(_ id: String) async {
    records.withLock { $0[id] = nil }
  }

  /// Lists the ids of all accounts that have a record.
  public func list() async -> [String] {
    records.withLock(\.texts)
  }
}
