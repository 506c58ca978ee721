/// The records of all accounts in a store, loaded page by page.
///
/// They are in the order of the ids' UTF-8 bytes. During the iteration, another program may save or
/// erase accounts. These accounts may or may not appear, but no other account appears twice or is
/// missing.
///
/// The iteration throws an ``SQOAuthError`` at the first record that cannot be read, and so ends a
/// loop, although other accounts may follow; ``AccountEntries`` has all of them. An iterator that
/// is called again goes on with the next record.
///
/// ```swift
/// func expired(_ store: any TokenStore) async throws(SQOAuthError) -> Int {
///   var count = 0
///   for try await record in store.records() where record.token.isExpired(at: Date()) {
///     count += 1
///   }
///   return count
/// }
/// ```
public struct AccountRecords: AsyncSequence, Sendable {
  /// The position in the records, with the rest of the current page.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate var entries: AccountEntries.AsyncIterator

    /// Returns the next record; `nil` after the last one.
    public mutating func next() async throws(SQOAuthError) -> AccountRecord? {
      try await next(isolation: #isolation)
    }

    /// Returns the next record on the caller's actor; `nil` after the last one.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(SQOAuthError) -> AccountRecord? {
      try await entries.next(isolation: actor)?.record.get()
    }
  }

  private let entries: AccountEntries

  init(_ entries: AccountEntries) {
    self.entries = entries
  }

  /// Creates an iterator that starts at the first record.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(entries: entries.makeAsyncIterator())
  }
}

extension TokenStore {
  /// Returns the records of all accounts, loaded page by page; a smaller page needs less memory.
  ///
  /// The iteration throws at the first record that cannot be read; ``entries(pageSize:)`` has the
  /// other accounts too.
  public func records(pageSize: Int = 500) -> AccountRecords {
    AccountRecords(entries(pageSize: pageSize))
  }
}
