import SQBasics
import SQFoundation
import SequencingOAuth

/// An account queue for a store that has no queue; it reads all records periodically.
///
/// Processes that share a store coordinate only through the accounts' leases. If two of them want
/// to renew an account at the same time, the second process uses the token that the first process
/// stored.
final class PagedAccountQueue: AccountQueue {
  /// What the queue remembers of an account's record.
  private struct Mark: Equatable {
    let server: ServerName
    /// A hash value of the record and of its token's dates; it changes when a new token is saved.
    let hash: Int

    init(_ record: AccountRecord) {
      server = ServerName(of: record)
      var hasher = Hasher()
      hasher.combine(record)
      // A token's own hash value ignores its dates, and a server may send the same token again.
      hasher.combine(record.token.issueDate)
      hasher.combine(record.token.expirationDate)
      hash = hasher.finalize()
    }
  }

  private struct Entry {
    /// The moment when the account is due.
    let date: Date
    /// The end of a pause for the account, by the clock's steady time; `nil` without a pause.
    var rest: Duration?
    /// The mark of the account's record; `nil` if the record cannot be read.
    var mark: Mark?

    var server: ServerName? { mark?.server }
  }

  /// A moment in both times of a clock: its date and its steady time.
  ///
  /// A token expires at a date, and a server's pause ends at a date. An account's pause must not
  /// change when the system's date changes, so it ends at a steady time.
  private struct Moment {
    let date: Date
    let steady: Duration

    init(_ clock: any WallClock) {
      (date, steady) = (clock.now, clock.steadyTime)
    }

    func wait(for entry: Entry) -> Duration {
      let time = Duration.seconds(entry.date.timeIntervalSince(date))
      return entry.rest.map { max(time, $0 - steady) } ?? time
    }
  }

  private struct State {
    /// The accounts that can be renewed, and those whose records cannot be read.
    var entries: [ExactText: Entry] = [:]
    var pauses: [ServerName: BackOff] = [:]
    /// For each paused server, the account that may send the first request, and until when the
    /// server's other accounts wait.
    var asked: [ServerName: (id: String, until: Duration)] = [:]
    /// The time of the last reading of all records, by the clock's steady time.
    var readAt: Duration?

    /// Takes due accounts; also returns the time until the next account is due.
    mutating func take(
      atMost count: Int, at now: Moment, for time: Duration
    ) -> (ids: [String], next: Duration?) {
      let open = entries.filter { isOpen($0.value.server, at: now) }
      let end = now.steady + time
      var ids: [String] = []
      for (id, entry) in open.sorted(by: { $0.value.date < $1.value.date })
      where now.wait(for: entry) <= .zero && ids.count < count && isOpen(entry.server, at: now) {
        if let server = entry.server, pauses[server] != nil { asked[server] = (id.text, end) }
        entries[id]?.rest = end
        ids.append(id.text)
      }
      return (ids, open.values.map { now.wait(for: $0) }.min())
    }

    private func isOpen(_ server: ServerName?, at now: Moment) -> Bool {
      guard let server else { return true }
      if let pause = pauses[server], pause.isInForce(at: now.date) { return false }
      return asked[server].map { now.steady >= $0.until } ?? true
    }

    /// Lets another account be chosen for the first request after a server's pause.
    mutating func passOver(_ id: String) {
      asked = asked.filter { $0.value.id != id }
    }
  }

  private let store: any TokenStore
  private let clock: any WallClock
  private let state = Locked(State())

  /// The time between two readings of all records.
  private static let period = Duration.seconds(30)

  init(_ store: any TokenStore, _ clock: any WallClock) {
    self.store = store
    self.clock = clock
  }

  func take(atMost count: Int, for time: Duration) async throws(SQOAuthError) -> DueAccounts {
    try await readIfNeeded()
    let now = Moment(clock)
    let (ids, next) = state.withLock { $0.take(atMost: count, at: now, for: time) }
    var accounts: [DueAccounts.Account] = []
    for id in ids {
      let account = await account(id, at: now.date)
      if account?.wasPaused != true { state.withLock { $0.passOver(id) } }
      if let account { accounts.append(account) }
    }
    return DueAccounts(accounts, next: next)
  }

  /// Reads a due account; returns `nil` if it was renewed or removed in the meantime.
  private func account(_ id: String, at now: Date) async -> DueAccounts.Account? {
    do throws(SQOAuthError) {
      let record = try await store.attempt("be read") { try await $0.load(id) }
      // With a jitter of 1, the result is the earliest date at which the token can be due.
      let date = record?.dueDate(at: now, jitter: 1)
      return state.withLock { state in
        guard let record, let date, date <= now else {
          state.entries[ExactText(id)] = Self.entry(record, date)
          return nil
        }
        let mark = Mark(record)
        state.entries[ExactText(id)]?.mark = mark
        return DueAccounts.Account(
          id: id, record: .success(record), wasPaused: state.pauses[mark.server] != nil)
      }
    } catch {
      state.withLock { $0.entries[ExactText(id)]?.mark = nil }
      return DueAccounts.Account(id: id, record: .failure(error), wasPaused: false)
    }
  }

  private func readIfNeeded() async throws(SQOAuthError) {
    let now = Moment(clock)
    let isNeeded = state.withLock { state in
      if let readAt = state.readAt, now.steady - readAt < Self.period { return false }
      state.readAt = now.steady
      return true
    }
    guard isNeeded else { return }
    do throws(SQOAuthError) {
      let found = try await entries(at: now.date)
      state.withLock { state in
        // If a record is unchanged, its entry stays: this process may have postponed the account.
        state.entries.merge(found) { old, new in old.mark == new.mark ? old : new }
        state.entries = state.entries.filter { found[$0.key] != nil }
      }
    } catch {
      state.withLock { $0.readAt = nil }
      throw error
    }
  }

  /// Reads all accounts.
  ///
  /// If a record cannot be read, its account is due, so that the keeper reports it.
  private func entries(at now: Date) async throws(SQOAuthError) -> [ExactText: Entry] {
    var found: [ExactText: Entry] = [:]
    try await store.forEachEntry { account in
      switch account.record {
      case .success(let record): found[ExactText(account.id)] = Self.entry(record, at: now)
      case .failure: found[ExactText(account.id)] = Entry(date: now)
      }
    }
    return found
  }

  private static func entry(_ record: AccountRecord?, at now: Date) -> Entry? {
    entry(record, record?.dueDate(at: now, jitter: .random(in: 0...1)))
  }

  private static func entry(_ record: AccountRecord?, _ date: Date?) -> Entry? {
    guard let record, let date else { return nil }
    return Entry(date: date, mark: Mark(record))
  }

  func postpone(
    _ account: DueAccounts.Account, by time: Duration
  ) async throws(SQOAuthError) {
    let rest = clock.steadyTime + time
    let mark = (try? account.record.get()).map(Mark.init)
    state.withLock { state in
      guard state.entries[ExactText(account.id)]?.mark == mark else { return }
      state.entries[ExactText(account.id)]?.rest = rest
    }
  }

  func finish(
    _ account: DueAccounts.Account, with record: AccountRecord?
  ) async throws(SQOAuthError) {
    let date = record?.dueDate(afterRenewalAt: clock.now, jitter: .random(in: 0...1))
    let entry = Self.entry(record, date)
    state.withLock { $0.entries[ExactText(account.id)] = entry }
  }

  func pause(
    _ server: ServerName, askedFor time: Duration?
  ) async throws(SQOAuthError) -> Duration {
    let now = clock.now
    let error = SQOAuthError(.serverError, "the server is paused", retryAfter: time)
    return state.withLock { state in
      state.asked[server] = nil
      if let pause = state.pauses[server], pause.isInForce(at: now) {
        return .seconds(pause.until.timeIntervalSince(now))
      }
      let pause = BackOff(error, after: state.pauses[server], at: now)
      state.pauses[server] = pause
      return .seconds(pause.until.timeIntervalSince(now))
    }
  }

  func resume(_ server: ServerName) async throws(SQOAuthError) {
    state.withLock { ($0.pauses[server], $0.asked[server]) = (nil, nil) }
  }

  func giveBack(_ server: ServerName) async throws(SQOAuthError) {
    state.withLock { $0.asked[server] = nil }
  }
}
