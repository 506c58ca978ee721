import SQBasics
import SQFoundation

/// A session's lease of its account, shared by all operations of the session.
///
/// It prevents other sessions, in this process and in others, from changing the account. Operations
/// of the same session do not exclude each other, so a sign-out can cancel a refresh without
/// waiting for it.
final class SessionLease: Sendable {
  /// How long another session had the lease, or why this session did not get it.
  typealias Outcome = Result<Duration, SQOAuthError>

  /// The default limit of the time that a session waits for a lease that another session holds.
  ///
  /// It is long because the other session may be waiting for a slow server, and limited because the
  /// other session's process may be suspended.
  static let longestWait = Duration.seconds(120)
  /// The longest time that `flush()` waits until the unfinished calls of the store have ended.
  private static let lastCalls = Duration.seconds(5)

  /// A wait for the lease, shared by all operations of the session that need the lease.
  private final class Attempt: Sendable {
    let outcome = OneShot<Outcome>()
    /// A signal to stop waiting for another session's lease; a free lease is still acquired.
    let interruption = Interruption()
    /// The longest time to wait until another session releases the lease.
    let limit: Duration

    init(limit: Duration) {
      self.limit = limit
    }
  }

  private struct State {
    /// The number of the session's operations that use the lease or wait for it.
    var users = 0
    /// The number of the session's operations that wait for the lease and must not give up.
    var waitingUsers = 0
    /// The number of running calls of ``SessionLease/hurrying(_:)``.
    var hurries = 0
    var lease: AccountLease?
    /// The current wait for the lease; `nil` if there is none.
    var attempt: Attempt?
    /// Whether the current wait ends if another session has the lease.
    var isHurried = false
    /// All waits whose call of the store is unfinished, even if no operation needs the lease now.
    var attempts: [ObjectIdentifier: Attempt] = [:]
  }

  private let accountID: String
  private let state = Locked(State())

  init(accountID: String) {
    self.accountID = accountID
  }

  /// Waits until the session has the lease; the caller must call ``release()`` after each success.
  ///
  /// A cancelled task stops waiting and gets an error. While ``hurrying(_:)`` runs, a caller with
  /// `waits` set to `false` gets an error instead of waiting for another session, unless a caller
  /// with `waits` set to `true` waits too.
  func acquire(
    from store: any TokenStore, _ environment: ClientEnvironment, waits: Bool = true,
    within limit: Duration = SessionLease.longestWait
  ) async -> Outcome {
    let (attempt, isFirst) = state.withLock { state -> (Attempt?, Bool) in
      state.users += 1
      if state.lease != nil { return (nil, false) }
      if waits { state.waitingUsers += 1 }
      if let attempt = state.attempt, !waits || !state.isHurried { return (attempt, false) }
      let attempt = Attempt(limit: limit)
      state.attempt = attempt
      state.isHurried = state.hurries > 0 && state.waitingUsers == 0
      state.attempts[ObjectIdentifier(attempt)] = attempt
      return (attempt, true)
    }
    guard let attempt else { return .success(.zero) }
    if isFirst {
      if state.withLock({ $0.attempt === attempt && $0.isHurried }) { attempt.interruption.raise() }
      // A separate task acquires the lease, because other callers may still wait if the first one
      // stops.
      let task = Task.startingHere { await self.take(from: store, environment, attempt) }
      attempt.interruption.whenRaised(task.cancel)
    }
    let outcome = await attempt.outcome.value() ?? .failure(.waitCancelled)
    if waits { state.withLock { $0.waitingUsers -= 1 } }
    if case .failure = outcome { release() }
    return outcome
  }

  /// Releases the lease, unless another operation of the session uses it.
  func release() {
    let (lease, unwanted) = state.withLock { state -> (AccountLease?, Attempt?) in
      state.users -= 1
      guard state.users == 0 else { return (nil, nil) }
      defer { (state.lease, state.attempt) = (nil, nil) }
      return (state.lease, state.attempt)
    }
    lease?.release()
    unwanted?.interruption.raise()
  }

  /// Runs `work`; meanwhile, only changes of the store wait for a lease of another session.
  ///
  /// It is called before a program ends or an `AccountKeeper` stops. Only changes that this process
  /// has already started are then worth the wait; a refresh is not.
  func hurrying<Value>(_ work: () async -> Value) async -> Value {
    let attempt = state.withLock { state -> Attempt? in
      state.hurries += 1
      guard state.waitingUsers == 0 else { return nil }
      state.isHurried = true
      return state.attempt
    }
    attempt?.interruption.raise()
    defer { state.withLock { $0.hurries -= 1 } }
    return await work()
  }

  /// Whether an operation has the lease or waits for it, or a call of the store is unfinished.
  var isInUse: Bool { state.withLock { $0.users > 0 || !$0.attempts.isEmpty } }

  /// Waits, for a limited time, until no unfinished call of the store can acquire a lease.
  func flush() async {
    let end = ContinuousClock.now + Self.lastCalls
    for attempt in state.withLock({ Array($0.attempts.values) }) {
      _ = await attempt.outcome.wait(until: end)
    }
  }

  private func take(
    from store: any TokenStore, _ environment: ClientEnvironment, _ attempt: Attempt
  ) async {
    let outcome: Outcome
    var unused: AccountLease?
    do throws(SQOAuthError) {
      let (lease, waited) = try await lease(of: store, environment, attempt)
      outcome = .success(waited)
      let later: Attempt?
      (unused, later) = state.withLock { state -> (AccountLease?, Attempt?) in
        guard state.users > 0, state.lease == nil else { return (lease, nil) }
        defer { (state.attempt, state.lease) = (nil, lease) }
        return (nil, state.attempt === attempt ? nil : state.attempt)
      }
      // A wait that has replaced this one can end, because the session has the lease.
      later?.interruption.raise()
    } catch {
      let hasLease = state.withLock { state in
        if state.attempt === attempt { state.attempt = nil }
        return state.lease != nil
      }
      // A wait that this one has replaced may have acquired the lease for the whole session.
      outcome = hasLease ? .success(.zero) : .failure(error)
    }
    unused?.release()
    state.withLock { $0.attempts[ObjectIdentifier(attempt)] = nil }
    attempt.outcome.resolve(outcome)
  }

  /// Acquires the lease immediately if it is free; otherwise waits and reports the wait.
  ///
  /// - Returns: The lease, and how long another session had it. A slow store does not count as a
  ///   wait.
  private func lease(
    of store: any TokenStore, _ environment: ClientEnvironment, _ attempt: Attempt
  ) async throws(SQOAuthError) -> (AccountLease, waited: Duration) {
    let id = accountID
    let start = environment.clock.steadyTime
    if let lease = try await store.attempt("lock the account", { try await $0.shared.lease(id) }) {
      return (lease, .zero)
    }
    let observer = environment.observer
    let holder = observer == nil ? nil : await store.shared.leaseHolder(id)
    // The text after the comma is a path, which may contain the user's name.
    let process = holder.map { String($0.prefix { $0 != "," }) }
    let lease = try await observer.observing(.leaseWait(holder: process), accountID: id) {
      () throws(SQOAuthError) in
      try await wait(for: store, environment.clock, until: start + attempt.limit, attempt)
    }
    return (lease, environment.clock.steadyTime - start)
  }

  private func wait(
    for store: any TokenStore, _ clock: any WallClock, until end: Duration, _ attempt: Attempt
  ) async throws(SQOAuthError) -> AccountLease {
    let id = accountID
    var pause = Duration.milliseconds(1)
    while true {
      try? await Task.sleep(for: pause)
      pause = min(pause * 2, .milliseconds(32))
      guard state.withLock({ $0.attempt === attempt }) else { throw .waitCancelled }
      guard !Task.isCancelled else { throw inUse("the SDK stopped waiting for it", by: nil) }
      if let lease = try await store.attempt("lock the account", { try await $0.shared.lease(id) })
      {
        return lease
      }
      // The lease was tried first: if the machine slept, the other session may have released it.
      guard clock.steadyTime < end else {
        let time = "the SDK waited \(attempt.limit.text); if that process hangs, end it"
        throw inUse(time, by: await store.shared.leaseHolder(id))
      }
    }
  }

  private func inUse(_ advice: String, by holder: String?) -> SQOAuthError {
    SQOAuthError(
      .accountInUse,
      "\(holder ?? "another process") has the account \"\(accountID.printable)\" locked; \(advice)")
  }
}
