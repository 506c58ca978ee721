import SQFoundation

/// The accounts in a store, loaded page by page, including those whose record cannot be read.
///
/// They are in the order of ``AccountEntry/key``. During the iteration, another program may save or
/// erase accounts. These accounts may or may not appear, but no other account appears twice or is
/// missing. The iteration throws only if the store as a whole cannot be read; the next call then
/// reads the same page again.
///
/// ```swift
/// func readable(_ store: any TokenStore) async throws(SQOAuthError) -> [AccountRecord] {
///   var records: [AccountRecord] = []
///   for try await entry in store.entries() {
///     switch entry.record {
///     case .success(let record): records.append(record)
///     case .failure(let error): print("\(entry.id) is left out: \(error)")
///     }
///   }
///   return records
/// }
/// ```
public struct AccountEntries: AsyncSequence, Sendable {
  /// The position in the accounts, with the rest of the current page.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let store: any TokenStore
    fileprivate let pageSize: Int
    private var page: ArraySlice<AccountEntry> = []
    private var last: Data?
    private var isLastPage = false

    fileprivate init(_ store: any TokenStore, pageSize: Int) {
      self.store = store
      self.pageSize = pageSize
    }

    /// Returns the next account; `nil` after the last one.
    public mutating func next() async throws(SQOAuthError) -> AccountEntry? {
      try await next(isolation: #isolation)
    }

    /// Returns the next account on the caller's actor; `nil` after the last one.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(SQOAuthError) -> AccountEntry? {
      if page.isEmpty, !isLastPage {
        let entries = try await store.entries(afterKey: last, limit: pageSize)
        page = entries[...]
        isLastPage = entries.count < pageSize
        last = entries.last?.key
      }
      return page.popFirst()
    }
  }

  private let store: any TokenStore
  private let pageSize: Int

  init(_ store: any TokenStore, pageSize: Int) {
    self.store = store
    self.pageSize = Swift.max(1, pageSize)
  }

  /// Creates an iterator that starts at the first account.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(store, pageSize: pageSize) }
}

extension TokenStore {
  /// Returns all accounts, loaded page by page; an unreadable record is an entry with an error.
  ///
  /// A smaller page needs less memory.
  public func entries(pageSize: Int = 500) -> AccountEntries {
    AccountEntries(self, pageSize: pageSize)
  }
}
