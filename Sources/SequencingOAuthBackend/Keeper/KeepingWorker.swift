import SQBasics
import SQFoundation
import SequencingOAuth

/// The part of an ``AccountKeeper`` that takes due accounts, and renews several at the same time.
final class KeepingWorker: Sendable {
  let observers = EventObservers<AccountKeeper.Event>()
  let totals = Locked(AccountKeeper.Totals())
  private let manager: AccountManager
  private let choice: KeepingChoice
  private let limit: Int
  private let configuration: AccountKeeper.ConfigurationFinder
  private let queue: any AccountQueue
  private let clock: any WallClock
  /// When the keeper was started, by ``clock``.
  private let startDate: Date
  /// The number of running renewals, in total and by server, and the bell: a signal that a renewal
  /// has ended.
  private let running = Locked(
    (count: 0, servers: [ServerName: Int](), bell: OneShot<Void>()))
  /// The rule whether an error pauses a server.
  private let failures = ServerFailures()
  /// Whether the keeper was stopped.
  private let stop = Locked(false)
  /// A signal that the keeper was stopped.
  private let stopping = OneShot<Void>()

  /// How long an account stays reserved for the keeper that has taken it.
  private static let claim = Duration.seconds(120)
  /// The longest pause between two checks for due accounts if none is due and the store works.
  private static let period = Duration.seconds(1)
  /// How long to skip an account that is unused, has no configuration, or has a record that stays
  /// unreadable.
  private static let leave = (
    unused: Duration.seconds(86_400), unknown: Duration.seconds(3600),
    damaged: Duration.seconds(600)
  )
  /// The shortest time to skip an account after an error that starts no pause of its server, for
  /// example while another process changes the account.
  private static let retry = Duration.seconds(10)
  /// The longest time to skip such an account, even if its source of assertions asks for more.
  private static let longestRetry = Duration.seconds(3600)
  /// How long a stopped keeper tries to store a token.
  private static let lastSaves = Duration.seconds(30)

  init(
    _ manager: AccountManager, _ choice: KeepingChoice, atOnce limit: Int,
    configuration: @escaping AccountKeeper.ConfigurationFinder
  ) {
    self.manager = manager
    self.choice = choice
    self.limit = limit
    self.configuration = configuration
    clock = manager.clock
    startDate = manager.clock.now
    queue = manager.store as? any AccountQueue ?? PagedAccountQueue(manager.store, manager.clock)
  }

  /// Renews accounts until the task is cancelled and all running renewals have ended.
  func run() async {
    await withTaskCancellationHandler {
      await takeAccounts()
    } onCancel: {
      stop.withLock { $0 = true }
      stopping.resolve(())
    }
    await uncancelled { [manager] in await manager.store.shared.flush() }
    observers.finish()
  }

  private func takeAccounts() async {
    await withDiscardingTaskGroup { group in
      var pause = Duration.milliseconds(500)
      while !Task.isCancelled {
        // The bell is a signal that a renewal has ended. Get it before taking accounts, so that the
        // end of a renewal in the meantime is not missed.
        let (count, busy, bell) = running.withLock { running in
          if running.bell.current != nil { running.bell = OneShot() }
          let busy = running.servers.sorted { $0.value < $1.value }.map(\.key)
          return (running.count, busy, running.bell)
        }
        guard count < limit else {
          _ = await bell.value()
          continue
        }
        do throws(SQOAuthError) {
          let due = try await queue.take(atMost: limit - count, for: Self.claim, busy: busy)
          pause = .milliseconds(500)
          for account in due.accounts { start(account, in: &group) }
          if due.accounts.isEmpty {
            await wait(for: bell, atMost: min(due.next ?? Self.period, Self.period))
          }
        } catch {
          // A stopped keeper has itself interrupted the store's calls.
          if Task.isCancelled { break }
          tell(.storeFailed(error))
          await wait(for: bell, atMost: pause)
          pause = min(pause * 2, .seconds(5))
        }
      }
    }
  }

  private func start(_ account: DueAccounts.Account, in group: inout DiscardingTaskGroup) {
    let server = (try? account.record.get()).map(ServerName.init(of:))
    running.withLock { running in
      running.count += 1
      if let server { running.servers[server, default: 0] += 1 }
    }
    group.addTask {
      // A separate task is not cancelled: a stopped keeper lets its renewals finish.
      await Task { await self.handle(account) }.value
      let bell = self.running.withLock { running in
        running.count -= 1
        if let server, let count = running.servers[server] {
          running.servers[server] = count > 1 ? count - 1 : nil
        }
        defer { running.bell = OneShot() }
        return running.bell
      }
      bell.resolve(())
    }
  }

  var isRenewing: Bool { running.withLock { $0.count > 0 } }

  /// Waits until a renewal ends, the time is over or the keeper is stopped.
  private func wait(for bell: OneShot<Void>, atMost time: Duration) async {
    // The pause is never zero. It is random, so that keepers do not query at the same time.
    let pause = max(time, .milliseconds(5)) * Double.random(in: 1...1.05)
    _ = await bell.wait(until: .now + pause)
  }

  private func tell(_ event: AccountKeeper.Event) {
    totals.withLock { totals in
      switch event {
      case .refreshed: totals.refreshed += 1
      case .takenOver: totals.takenOver += 1
      case .failed: totals.failed += 1
      case .ended: totals.ended += 1
      case .paused: totals.paused += 1
      case .storeFailed: totals.storeFailed += 1
      }
    }
    observers.tell(event)
  }

  // MARK: One account

  private func handle(_ account: DueAccounts.Account) async {
    let record: AccountRecord
    switch account.record {
    case .success(let found):
      record = found
    case .failure(let error):
      tell(.failed(account.id, error))
      // Unless the record is damaged, another host may be able to read it soon. A queue of this
      // process alone keeps the record from no other host.
      let isLasting =
        error.code == .storeDamaged || error.code == .storeTooNew && queue is PagedAccountQueue
      let time = isLasting ? Self.leave.damaged : Self.retry
      return await postpone(account, by: time)
    }
    // The account is due, so the clock of this host cannot be right if it shows an earlier date.
    let now = account.date ?? max(clock.now, record.ownDueDate ?? .distantPast)
    let delay = choice.delay(record, at: now) ?? Self.leave.unused
    guard delay <= .zero else {
      await giveBack(account, record)
      return await postpone(account, by: delay)
    }
    let known = manager.module(id: record.id)
    guard let module = known ?? self.module(for: record) else {
      await giveBack(account, record)
      return await postpone(account, by: Self.leave.unknown)
    }
    let session = module.session
    do throws(SQOAuthError) {
      // The app may have signed out since the record was read, so the app's module reads the store
      // itself if it has no token.
      if known == nil { try session.restore(record, in: session.account, since: session.ends) }
      let refreshes = session.refreshes
      try await renew(session)
      failures.clear(ServerName(of: record))
      if account.wasPaused { try? await queue.resume(ServerName(of: record)) }
      guard await isStored(session, record.id) else { return }
      tell(session.refreshes > refreshes ? .refreshed(record.id) : .takenOver(record.id))
      try? await queue.finish(account, with: session.record)
    } catch {
      _ = await isStored(session, record.id)
      if error.code == .notAuthorized, session.record == nil {
        return await signedOut(account, record)
      }
      await failed(account, record, error)
    }
  }

  /// Renews a session's token.
  ///
  /// A stopped keeper does not wait for another process that uses the account.
  private func renew(_ session: TokenSession) async throws(SQOAuthError) {
    let hurry = Task { [stopping] in
      guard await stopping.value() != nil else { return }
      await session.account.hurrying { _ = await OneShot<Void>().value() }
    }
    defer { hurry.cancel() }
    _ = try await session.token(.kept(since: session.renewals))
  }

  /// Creates the module of an account that the app does not use.
  private func module(for record: AccountRecord) -> AuthorizationModule? {
    guard let configuration = configuration(record) else { return nil }
    let module = manager.module(for: configuration, id: record.id)
    // The module is released after this renewal, so it does not need notifications from other
    // hosts.
    module.session.observation.close()
    return module
  }

  /// Waits until the store has the newest token; returns `false` if the keeper was stopped and the
  /// store still failed.
  private func isStored(_ session: TokenSession, _ id: String) async -> Bool {
    guard let error = session.unsavedError else { return true }
    tell(.failed(id, error))
    var end: ContinuousClock.Instant?
    return await session.saveAgain {
      guard stop.withLock({ $0 }) else { return true }
      let last = end ?? .now + Self.lastSaves
      end = last
      return ContinuousClock.now < last
    } == nil
  }

  private func failed(
    _ account: DueAccounts.Account, _ record: AccountRecord, _ error: SQOAuthError
  ) async {
    if error.endsSession {
      tell(.ended(record.id, error))
      failures.clear(ServerName(of: record))
      try? await queue.finish(account, with: nil)
      if account.wasPaused { try? await queue.resume(ServerName(of: record)) }
      return
    }
    // For a stopped keeper, an account that another process uses is not a failure.
    if error.code != .accountInUse || !stop.withLock(\.self) { tell(.failed(record.id, error)) }
    let wait = wait(after: error, of: account, record)
    guard failures.concernServer(error, of: record) else {
      await giveBack(account, record)
      return await postpone(account, by: wait)
    }
    let pause = try? await queue.pause(ServerName(of: record), askedFor: error.retryAfter)
    if let pause {
      tell(.paused(record.issuer ?? record.tokenEndpoint?.withoutQuery ?? "", pause))
      // The account alone may be the reason.
      await postpone(account, by: error.mayConcernServer ? max(pause, wait) : pause)
    }
  }

  /// Returns how long to skip an account after an error that may be about this account alone.
  ///
  /// If the server refused the account, the time is as long as the account has been due while this
  /// keeper has been running. So it doubles with each refusal, and no store needs to count
  /// refusals. If a keeper starts late and the server is not ready yet, the accounts wait only for a
  /// short time.
  private func wait(
    after error: SQOAuthError, of account: DueAccounts.Account, _ record: AccountRecord
  ) -> Duration {
    var wait = max(error.retryAfter ?? .zero, Self.retry)
    if error.status != nil || error.requiresSignIn,
      let due = record.ownDueDate ?? record.token.expirationDate
    {
      let now = account.date ?? clock.now
      wait = max(wait, .bounded(seconds: now.timeIntervalSince(max(due, startDate))))
    }
    return min(wait, Self.longestRetry)
  }

  /// Removes an account from the queue, because the user was signed out after the record was read.
  private func signedOut(_ account: DueAccounts.Account, _ record: AccountRecord) async {
    await giveBack(account, record)
    try? await queue.finish(account, with: nil)
  }

  /// Lets the queue choose another account for the first request after a server's pause.
  private func giveBack(_ account: DueAccounts.Account, _ record: AccountRecord) async {
    if account.wasPaused { try? await queue.giveBack(ServerName(of: record)) }
  }

  private func postpone(_ account: DueAccounts.Account, by time: Duration) async {
    // If this fails, the account is due again when the time of `claim` is over.
    try? await queue.postpone(account, by: time)
  }
}
