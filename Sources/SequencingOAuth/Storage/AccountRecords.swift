/// The records of all accounts in a store, loaded page by page.
///
/// They are in the order of the ids' UTF-8 bytes. During the iteration, another program may save or
/// erase accounts. These accounts may or may not appear, but no other account appears twice or is
/// missing. The iteration throws an ``SQOAuthError``.
///
/// ```swift
/// func expired(_ store: any TokenStore) async throws -> Int {
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
    fileprivate let store: any TokenStore
    fileprivate let pageSize: Int
    private var page: ArraySlice<AccountRecord> = []
    private var last: String?
    private var isLastPage = false

    fileprivate init(_ store: any TokenStore, pageSize: Int) {
      self.store = store
      self.pageSize = pageSize
    }

    /// Returns the next record; `nil` after the last one.
    public mutating func next() async throws -> AccountRecord? {
      if page.isEmpty, !isLastPage {
        let (last, size) = (last, pageSize)
        page = try await store.page(after: last, limit: size)[...]
        isLastPage = page.count < size
        self.last = page.last?.id
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

  /// Creates an iterator that starts at the first record.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(store, pageSize: pageSize) }
}

extension TokenStore {
  /// Returns the records of all accounts, loaded page by page; a smaller page needs less memory.
  public func records(pageSize: Int = 500) -> AccountRecords {
    AccountRecords(self, pageSize: pageSize)
  }
}
