import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A session's lease of its account, which all parts of the session share.
///
/// It keeps other sessions from changing the account, in this process and in others. Parts of one
/// session do not exclude each other by it, so a sign-out can cancel a refresh without waiting for
/// it.
final class SessionLease: Sendable {
  typealias Outcome = Result<Void, SQOAuthError>

  /// How long the session waits for another holder of the lease, in seconds.
  ///
  /// The holder may be refreshing at a slow server. If it was suspended, the wait must end.
  static let longestWait = 120.0

  private struct State {
    /// How many parts of the session use the lease or wait for it.
    var users = 0
    var lease: AccountLease?
    /// The outcome of the wait for the lease; `nil` if no wait is under way.
    var arrival: OneShot<Outcome>?
  }

  private let accountID: String
  private let state = Locked(State())

  init(accountID: String) {
    self.accountID = accountID
  }

  /// Waits until the session has the lease; call ``release()`` once after each success.
  ///
  /// A task that is cancelled stops waiting and gets an error.
  func acquire(
    from store: any TokenStore, _ clock: any WallClock
  ) async -> Outcome {
    let (arrival, isFirst) = state.withLock { state -> (OneShot<Outcome>?, Bool) in
      state.users += 1
      if state.lease != nil { return (nil, false) }
      if let arrival = state.arrival { return (arrival, false) }
      let arrival = OneShot<Outcome>()
      state.arrival = arrival
      return (arrival, true)
    }
    guard let arrival else { return .success(()) }
    if isFirst {
      // A separate task takes the lease, since other callers may wait after the first one gave up.
      Task.startingHere { await self.take(from: store, clock, arrival) }
    }
    let outcome = await arrival.value() ?? .failure(.waitCancelled)
    if case .failure = outcome { release() }
    return outcome
  }

  /// Gives the lease back, unless another part of the session uses it.
  func release() {
    let lease = state.withLock { state -> AccountLease? in
      state.users -= 1
      guard state.users == 0 else { return nil }
      defer { state.lease = nil }
      return state.lease
    }
    lease?.release()
  }

  private func take(
    from store: any TokenStore, _ clock: any WallClock, _ arrival: OneShot<Outcome>
  ) async {
    let outcome: Outcome
    var unused: AccountLease?
    do throws(SQOAuthError) {
      let lease = try await wait(for: store, clock)
      outcome = .success(())
      unused = state.withLock { state in
        state.arrival = nil
        guard state.users > 0 else { return lease }
        state.lease = lease
        return nil
      }
    } catch {
      outcome = .failure(error)
      state.withLock { if $0.arrival === arrival { $0.arrival = nil } }
    }
    unused?.release()
    arrival.resolve(outcome)
  }

  private func wait(
    for store: any TokenStore, _ clock: any WallClock
  ) async throws(SQOAuthError) -> AccountLease {
    let id = accountID
    let end = clock.steadyTime + .seconds(Self.longestWait)
    var pause = Duration.milliseconds(1)
    while true {
      if let lease = try await store.attempt("lock the account", { try await $0.lease(id) }) {
        return lease
      }
      guard clock.steadyTime < end else { throw inUse(by: await store.leaseHolder(id)) }
      try? await Task.sleep(for: pause)
      pause = min(pause * 2, .milliseconds(32))
      guard isWanted else { throw .waitCancelled }
    }
  }

  /// Whether any caller is still waiting; if not, the next caller starts a new attempt.
  private var isWanted: Bool {
    state.withLock { state in
      if state.users == 0 { state.arrival = nil }
      return state.users > 0
    }
  }

  private func inUse(by holder: String?) -> SQOAuthError {
    SQOAuthError(
      .accountInUse,
      "\(holder ?? "another process") has the account \"\(accountID.printable)\" locked; the SDK "
        + "waited \(Int(Self.longestWait)) s; if that process hangs, end it")
  }
}
