import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The queue of a store that has none of its own: it reads all records now and then.
///
/// Processes that share the store share the accounts by their leases only: two of them may want to
/// renew an account at the same time, and the second one finds the first one's token.
final class PagedAccountQueue: AccountQueue {
  private struct State {
    /// When each account is due; accounts that are not known yet are not in it.
    var dates: [String: Date] = [:]
    var pauses: [ServerName: BackOff] = [:]
    var servers: [String: ServerName] = [:]
    var readAt: Date?
  }

  private let store: any TokenStore
  private let clock: any WallClock
  private let state = Locked(State())

  /// How often all records are read, in seconds.
  private static let period = 30.0

  init(_ store: any TokenStore, _ clock: any WallClock) {
    self.store = store
    self.clock = clock
  }

  func take(atMost count: Int, for time: Duration) async throws(SQOAuthError) -> DueAccounts {
    try await readIfNeeded()
    let now = clock.now
    let (ids, next) = state.withLock { state -> ([String], Date?) in
      let open = state.dates.filter { id, _ in
        guard let server = state.servers[id], let pause = state.pauses[server] else { return true }
        return !pause.isInForce(at: now)
      }
      let due = open.filter { $0.value <= now }.sorted { $0.value < $1.value }.prefix(count)
      for (id, _) in due { state.dates[id] = now.addingTimeInterval(time / .seconds(1)) }
      return (due.map(\.key), open.values.min())
    }
    var accounts: [DueAccounts.Account] = []
    for id in ids {
      guard let account = await account(id, at: now) else { continue }
      accounts.append(account)
    }
    return DueAccounts(accounts, next: next.map { .seconds($0.timeIntervalSince(now)) })
  }

  /// Reads an account that was due; returns `nil` if another process has renewed or erased it.
  private func account(_ id: String, at now: Date) async -> DueAccounts.Account? {
    do throws(SQOAuthError) {
      let record = try await store.attempt("be read") { try await $0.load(id) }
      // The earliest date for this token.
      let date = record?.dueDate(at: now, jitter: 1)
      return state.withLock { state in
        guard let record, let date, date <= now else {
          state.dates[id] = date
          return nil
        }
        return DueAccounts.Account(
          id: id, record: .success(record),
          wasPaused: state.pauses[ServerName(of: record)] != nil)
      }
    } catch {
      return DueAccounts.Account(id: id, record: .failure(error), wasPaused: false)
    }
  }

  private func readIfNeeded() async throws(SQOAuthError) {
    let now = clock.now
    let isNeeded = state.withLock { state in
      if let readAt = state.readAt, abs(now.timeIntervalSince(readAt)) < Self.period {
        return false
      }
      state.readAt = now
      return true
    }
    guard isNeeded else { return }
    let found: [String: (date: Date, server: ServerName)]
    do throws(SQOAuthError) {
      found = try await store.attempt("be read") { store in
        try await store.records().reduce(into: [:]) { found, record in
          guard let date = record.dueDate(at: now, jitter: .random(in: 0...1)) else { return }
          found[record.id] = (date, ServerName(of: record))
        }
      }
    } catch {
      state.withLock { $0.readAt = nil }
      throw error
    }
    state.withLock { state in
      // What this process has taken or postponed stays so.
      state.dates.merge(found.mapValues(\.date)) { old, _ in old }
      state.dates = state.dates.filter { found[$0.key] != nil }
      state.servers = found.mapValues(\.server)
    }
  }

  func postpone(
    _ account: DueAccounts.Account, by time: Duration
  ) async throws(SQOAuthError) {
    let date = clock.now.addingTimeInterval(time / .seconds(1))
    state.withLock { if $0.dates[account.id] != nil { $0.dates[account.id] = date } }
  }

  func finish(
    _ account: DueAccounts.Account, with record: AccountRecord?
  ) async throws(SQOAuthError) {
    let date = record?.dueDate(at: clock.now, jitter: .random(in: 0...1))
    state.withLock { $0.dates[account.id] = date }
  }

  func pause(
    _ server: ServerName, askedFor time: Duration?
  ) async throws(SQOAuthError) -> Duration {
    let now = clock.now
    let error = SQOAuthError(.serverError, "the server is paused", retryAfter: time)
    return state.withLock { state in
      if let pause = state.pauses[server], pause.isInForce(at: now) {
        return .seconds(pause.until.timeIntervalSince(now))
      }
      let pause = BackOff(error, after: state.pauses[server], at: now)
      state.pauses[server] = pause
      return .seconds(pause.until.timeIntervalSince(now))
    }
  }

  func resume(_ server: ServerName) async throws(SQOAuthError) {
    state.withLock { $0.pauses[server] = nil }
  }
}
