import Basics

/// Keeps tokens until the process ends.
public final class MemoryTokenStore: TokenStore {
  private let records = Locked<[String: AccountRecord]>([:])

  /// Makes an empty store.
  public init() {}

  /// The record of an account.
  public func load(_ id: String) async -> AccountRecord? {
    records.withLock { $0[id] }
  }

  /// Adds or replaces a record.
  public func save(_ record: AccountRecord) async {
    records.withLock { $0[record.id] = record }
  }

  /// Removes the record of an account.
  public func erase(_ id: String) async {
    records.withLock { $0[id] = nil }
  }

  /// The accounts that have a record.
  public func list() async -> [String] {
    records.withLock { $0.keys.sorted() }
  }
}
