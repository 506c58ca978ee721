public import SQFoundation

/// A token store that reads its accounts page by page, for a store with very many accounts.
public protocol PagedTokenStore: TokenStore {
  /// Reads the next accounts after `key`, at most `limit`, in the order of ``AccountEntry/key``.
  ///
  /// A key is the UTF-8 bytes of an account's id; keys are compared byte by byte. `nil` starts with
  /// the first account. A page with fewer than `limit` accounts is the last one. The call throws
  /// only if the store as a whole cannot be read; an unreadable record is an entry with an error.
  func entries(after key: Data?, limit: Int) async throws -> [AccountEntry]
}

extension TokenStore {
  /// Loads the records of all accounts, in the order of the ids' UTF-8 bytes.
  ///
  /// If the store may have very many accounts, ``records(pageSize:)`` needs less memory.
  /// The call throws if a single record cannot be read; ``entries(pageSize:)`` has the other
  /// accounts.
  public func all() async throws(SQOAuthError) -> [AccountRecord] {
    var records: [AccountRecord] = []
    try await forEachEntry { entry throws(SQOAuthError) in records.append(try entry.record.get()) }
    return records
  }

  /// Loads the records of the accounts after an id, at most `limit` of them.
  ///
  /// If the id is `nil`, the page starts with the first account. The order is that of the ids'
  /// UTF-8 bytes. A page with fewer than `limit` records is the last one. A store that is not a
  /// ``PagedTokenStore`` lists all ids for each page. The call throws if a single record of
  /// the page cannot be read; ``entries(pageSize:)`` has the other accounts.
  public func page(
    after id: String?, limit: Int
  ) async throws(SQOAuthError) -> [AccountRecord] {
    var records: [AccountRecord] = []
    for entry in try await entries(afterKey: id.map { Data($0.utf8) }, limit: limit) {
      records.append(try entry.record.get())
    }
    return records
  }

  /// Calls a closure for each account, page by page, even if a record cannot be read.
  ///
  /// Only one page is in memory at a time. The order is that of the ids' UTF-8 bytes.
  package func forEachEntry(
    pageSize: Int = 500, _ body: (AccountEntry) throws(SQOAuthError) -> Void
  ) async throws(SQOAuthError) {
    var last: Data?
    repeat {
      let page = try await entries(afterKey: last, limit: pageSize)
      for entry in page { try body(entry) }
      last = page.count < pageSize ? nil : page.last?.key
    } while last != nil
  }

  /// Reads the next accounts after `key`, at most `limit`, of any store.
  func entries(
    afterKey key: Data?, limit: Int
  ) async throws(SQOAuthError) -> [AccountEntry] {
    guard let store = self as? any PagedTokenStore else {
      return try await listedPage(after: key, limit: limit)
    }
    return try await store.attempt("be read") { try await $0.entries(after: key, limit: limit) }
  }

  /// Lists all ids, and loads the records of one page.
  private func listedPage(
    after key: Data?, limit: Int
  ) async throws(SQOAuthError) -> [AccountEntry] {
    var ids = try await attempt("be read") { try await $0.list() }
      .page(after: key, limit: .max)[...]
    var entries: [AccountEntry] = []
    // Another process may have erased a record since the ids were listed.
    while entries.count < limit, let next = ids.popFirst() {
      if let entry = try await entry(next) { entries.append(entry) }
    }
    return entries
  }

  /// Returns one account; `nil` if another process has erased it.
  private func entry(_ id: String) async throws(SQOAuthError) -> AccountEntry? {
    do throws(SQOAuthError) {
      let record = try await attempt("be read") { try await $0.load(id) }
      return record.map { AccountEntry(id, .success($0)) }
    } catch {
      guard error.concernsOneRecord else { throw error }
      return AccountEntry(id, .failure(error))
    }
  }
}
