import SQBasics
package import SQFoundation

/// One account on a page of a store: its record, or the error that prevents reading it.
package struct AccountEntry: Sendable {
  /// The UTF-8 bytes of the account's id; they may be invalid in a damaged store.
  package let key: Data
  package let record: Result<AccountRecord, SQOAuthError>

  package init(key: Data, record: Result<AccountRecord, SQOAuthError>) {
    self.key = key
    self.record = record
  }

  /// The account's id.
  package var id: String { String(decoding: key, as: UTF8.self) }
}

/// A store that can read a page of accounts even if some of the records cannot be read.
package protocol AccountEntryPages: TokenStore {
  /// Reads the accounts after a key, at most `limit` of them, in the order of their keys.
  ///
  /// A page with fewer than `limit` accounts is the last one. The call throws only if the store as
  /// a whole cannot be read.
  func entries(after key: Data?, limit: Int) async throws(SQOAuthError) -> [AccountEntry]
}

extension TokenStore {
  /// Calls a closure for each account, page by page, even if a record cannot be read.
  ///
  /// Only one page is in memory at a time. The order is that of ``records(pageSize:)``.
  package func forEachEntry(
    pageSize: Int = 500, _ body: (AccountEntry) -> Void
  ) async throws(SQOAuthError) {
    guard let store = self as? any AccountEntryPages else {
      return try await forEachPagedEntry(pageSize: pageSize, body)
    }
    var last: Data?
    repeat {
      let page = try await store.entries(after: last, limit: pageSize)
      for entry in page { body(entry) }
      last = page.count < pageSize ? nil : page.last?.key
    } while last != nil
  }

  /// Calls a closure for each account, even if one bad record makes a whole page unreadable.
  private func forEachPagedEntry(
    pageSize: Int, _ body: (AccountEntry) -> Void
  ) async throws(SQOAuthError) {
    var last: String?
    repeat {
      let after = last
      do throws(SQOAuthError) {
        let page = try await attempt("be read") { try await $0.page(after: after, limit: pageSize) }
        for record in page { body(AccountEntry(record.id, .success(record))) }
        last = page.count < pageSize ? nil : page.last?.id
      } catch {
        guard error.concernsOneRecord else { throw error }
        let ids = try await attempt("be read") { try await $0.list() }
          .page(after: after, limit: pageSize)
        for id in ids { if let entry = try await entry(id) { body(entry) } }
        last = ids.count < pageSize ? nil : ids.last
      }
    } while last != nil
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

extension AccountEntry {
  fileprivate init(_ id: String, _ record: Result<AccountRecord, SQOAuthError>) {
    self.init(key: Data(id.utf8), record: record)
  }
}

extension SQOAuthError {
  /// Whether a store may throw the error because of a single record, while other records are fine.
  package var concernsOneRecord: Bool {
    switch code {
    case .storeDamaged, .storeTooNew, .wrongPassphrase: true
    default: false
    }
  }
}
