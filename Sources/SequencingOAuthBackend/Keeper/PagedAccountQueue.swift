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
    /// The date when the account is due, by the clock as it was when the entry was made.
    var date: Date
    /// The steady time when the account is due even if the date was moved back.
    let deadline: Duration
    /// The end of a pause for the account, by the clock's steady time; `nil` without a pause.
    ///
    /// The pause does not change when the system's date changes.
    var rest: Duration?
    /// The mark of the account's record; `nil` if the record cannot be read.
    var mark: Mark?

    var server: ServerName? { mark?.server }

    init(due date: Date, _ mark: Mark?, at now: ClockMoment) {
      self.date = date
      self.mark = mark
      deadline = now.steadyTime(at: date)
    }

    /// Returns the time until the account is due; not positive if it is due.
    func wait(at now: ClockMoment) -> Duration {
      let time = min(.bounded(seconds: date.timeIntervalSince(now.date)), deadline - now.steady)
      return rest.map { max(time, $0 - now.steady) } ?? time
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
    ///
    /// The servers take turns, and those in `busy` come later. A server's accounts are taken in the
    /// order of their dates.
    mutating func take(
      atMost count: Int, at now: ClockMoment, for time: Duration, busy: [ServerName]
    ) -> (ids: [String], next: Duration?) {
      let open = entries.filter { isOpen($0.value.server, at: now) }
      let end = now.steady + time
      var turns: [ServerName?: Int] = [:]
      for (place, server) in busy.enumerated() { turns[server] = place + 1 }
      let due = open.filter { $0.value.wait(at: now) <= .zero }
        .sorted { $0.value.date < $1.value.date }
        .map { id, entry in
          defer { turns[entry.server, default: 0] += 1 }
          return (id: id, entry: entry, turn: turns[entry.server, default: 0])
        }
        .sorted { ($0.turn, $0.entry.date) < ($1.turn, $1.entry.date) }
      var ids: [String] = []
      for (id, entry, _) in due where ids.count < count && isOpen(entry.server, at: now) {
        if let server = entry.server, pauses[server] != nil { asked[server] = (id.text, end) }
        entries[id]?.rest = end
        ids.append(id.text)
      }
      return (ids, open.values.map { $0.wait(at: now) }.min())
    }

    private func isOpen(_ server: ServerName?, at now: ClockMoment) -> Bool {
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
    try await take(atMost: count, for: time, busy: [])
  }

  func take(
    atMost count: Int, for time: Duration, busy: [ServerName]
  ) async throws(SQOAuthError) -> DueAccounts {
    try await readIfNeeded()
    let now = ClockMoment(clock)
    let (ids, next) = state.withLock { $0.take(atMost: count, at: now, for: time, busy: busy) }
    var accounts: [DueAccounts.Account] = []
    for id in ids {
      let account = await account(id, at: now)
      if account?.wasPaused != true { state.withLock { $0.passOver(id) } }
      if let account { accounts.append(account) }
    }
    return DueAccounts(accounts, next: next)
  }

  /// Reads a due account; returns `nil` if it was renewed or removed in the meantime.
  private func account(_ id: String, at now: ClockMoment) async -> DueAccounts.Account? {
    do throws(SQOAuthError) {
      let record = try await store.attempt("be read") { try await $0.load(id) }
      // With a jitter of 1, the result is the earliest date at which the token can be due.
      let date = record?.dueDate(at: now.date, jitter: 1)
      let mark = record.map(Mark.init)
      return state.withLock { state in
        let known = state.entries[ExactText(id)]
        // An unchanged record is due as planned, even if the date was moved back since.
        let isPlanned = mark != nil && mark == known?.mark
        guard let record, let mark, let date, date <= now.date || isPlanned else {
          state.entries[ExactText(id)] = Self.entry(record, date, at: now)
          return nil
        }
        state.entries[ExactText(id)]?.mark = mark
        return DueAccounts.Account(
          id: id, record: .success(record), wasPaused: state.pauses[mark.server] != nil,
          date: isPlanned ? max(now.date, known?.date ?? now.date) : now.date)
      }
    } catch {
      // A stopped keeper has interrupted the call, which says nothing about the record.
      if Task.isCancelled { return nil }
      state.withLock { $0.entries[ExactText(id)]?.mark = nil }
      return DueAccounts.Account(id: id, record: .failure(error), wasPaused: false)
    }
  }

  private func readIfNeeded() async throws(SQOAuthError) {
    let now = ClockMoment(clock)
    let isNeeded = state.withLock { state in
      if let readAt = state.readAt, now.steady - readAt < Self.period { return false }
      state.readAt = now.steady
      return true
    }
    guard isNeeded else { return }
    do throws(SQOAuthError) {
      let found = try await entries(at: now)
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
  private func entries(at now: ClockMoment) async throws(SQOAuthError) -> [ExactText: Entry] {
    var found: [ExactText: Entry] = [:]
    try await store.forEachEntry { account in
      switch account.record {
      case .success(let record):
        let date = record.dueDate(at: now.date, jitter: .random(in: 0...1))
        found[ExactText(account.id)] = Self.entry(record, date, at: now)
      case .failure:
        found[ExactText(account.id)] = Entry(due: now.date, nil, at: now)
      }
    }
    return found
  }

  private static func entry(
    _ record: AccountRecord?, _ date: Date?, at now: ClockMoment
  ) -> Entry? {
    guard let record, let date else { return nil }
    return Entry(due: date, Mark(record), at: now)
  }

  func postpone(
    _ account: DueAccounts.Account, by time: Duration
  ) async throws(SQOAuthError) {
    let now = ClockMoment(clock)
    let mark = (try? account.record.get()).map(Mark.init)
    state.withLock { state in
      guard state.entries[ExactText(account.id)]?.mark == mark else { return }
      state.entries[ExactText(account.id)]?.date = (account.date ?? now.date) + time.seconds
      state.entries[ExactText(account.id)]?.rest = now.steady + time
    }
  }

  func finish(
    _ account: DueAccounts.Account, with record: AccountRecord?
  ) async throws(SQOAuthError) {
    let now = ClockMoment(clock)
    let date = record?.dueDate(afterRenewalAt: now.date, jitter: .random(in: 0...1))
    let entry = Self.entry(record, date, at: now)
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
