import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// A session that stops waiting for its account, which a slow store or another process holds.
@Suite("A lease that no caller waits for any more", .timeLimit(.minutes(1)))
struct SessionLeaseTests {
  /// A store that gives the lease when the test says so.
  final class LeasingStore: SharedTokenStore {
    struct State {
      var isFree = true
      /// Whether the other session releases the lease right after the next request.
      var isReleasedNext = false
      var asked = 0
      var given = 0
      var held = 0
    }

    /// Holds each request for the lease before it is answered.
    let answering = Gate()
    /// Holds the second request too.
    let answeringSecond = Gate()
    let state = Locked(State())

    func lease(_ id: String) async throws -> AccountLease? {
      let number = state.withLock { state in
        state.asked += 1
        return state.asked
      }
      if number == 2 { await answeringSecond.pass() }
      await answering.pass()
      let isMine = state.withLock { state in
        guard state.isFree, state.held == 0 else {
          if state.isReleasedNext { state.isFree = true }
          return false
        }
        state.held = 1
        state.given += 1
        return true
      }
      return isMine ? AccountLease { self.state.withLock { $0.held -= 1 } } : nil
    }

    func load(_ id: String) async throws -> AccountRecord? { nil }
    func save(_ record: AccountRecord) async throws {}
    func erase(_ id: String) async throws {}
    func list() async throws -> [String] { [] }
  }

  let store = LeasingStore()
  let clock = ManualClock()
  var environment: ClientEnvironment {
    var environment = ClientEnvironment()
    environment.clock = clock
    return environment
  }

  /// Waits for the lease in a task, and cancels the task.
  func givesUp(_ lease: SessionLease) async throws {
    let asked = store.state.withLock(\.asked)
    let waiter = Task { [store, environment] in await lease.acquire(from: store, environment) }
    try await eventually { [store] in store.state.withLock(\.asked) > asked }
    waiter.cancel()
    #expect(await waiter.value.error?.code == .cancelled)
  }

  @Test func `a lease that arrives after its caller gave up is released`() async throws {
    let lease = SessionLease(accountID: "a")
    store.answering.close()
    try await givesUp(lease)
    store.answering.open()
    try await eventually { [store] in store.state.withLock { $0.given == 1 && $0.held == 0 } }
    #expect(await lease.acquire(from: store, environment).error == nil)
    #expect(store.state.withLock { $0.given == 2 && $0.held == 1 })
    lease.release()
    #expect(store.state.withLock(\.held) == 0)
  }

  @Test func `the wait for a lease counts from the request, and only if another session has it`()
    async throws
  {
    let lease = SessionLease(accountID: "a")
    for isFree in [true, false] {
      store.state.withLock { $0.isFree = isFree }
      let asked = store.state.withLock(\.asked)
      store.answering.close()
      let waiter = Task { [store, environment] in await lease.acquire(from: store, environment) }
      try await store.answering.isHolding()
      // The store takes this time to answer.
      clock.advance(by: 5)
      store.answering.open()
      if !isFree {
        try await eventually { [store] in store.state.withLock(\.asked) > asked + 1 }
        store.state.withLock { $0.isFree = true }
      }
      #expect(try await waiter.value.get() == (isFree ? .zero : .seconds(5)))
      lease.release()
    }
  }

  /// For example, the machine slept, and the other session released the lease meanwhile.
  @Test func `a lease that is free again when the limit has passed is acquired`() async throws {
    let lease = SessionLease(accountID: "a")
    store.state.withLock { ($0.isFree, $0.isReleasedNext) = (false, true) }
    store.answering.close()
    let waiter = Task { [store, environment] in await lease.acquire(from: store, environment) }
    try await store.answering.isHolding()
    clock.advance(by: 1000)
    store.answering.open()
    #expect(try await waiter.value.get() == .seconds(1000))
    lease.release()
  }

  /// For example, a renewal waits for a slow store when the program ends and a save begins.
  @Test func `a lease that a replaced wait acquires is the whole session's`() async throws {
    let lease = SessionLease(accountID: "a")
    let hurry = Gate(isOpen: false)
    let hurrying = Task { await lease.hurrying { await hurry.pass() } }
    try await hurry.isHolding()
    store.answering.close()
    store.answeringSecond.close()
    let renewal = Task { [store, environment] in
      await lease.acquire(from: store, environment, waits: false)
    }
    try await store.answering.isHolding()
    let save = Task { [store, environment] in await lease.acquire(from: store, environment) }
    try await store.answeringSecond.isHolding()
    store.answering.open()
    #expect(await renewal.value.error == nil)
    #expect(store.state.withLock(\.held) == 1)
    store.answeringSecond.open()
    #expect(await save.value.error == nil)
    #expect(store.state.withLock { $0.given == 1 && $0.held == 1 })
    lease.release()
    lease.release()
    #expect(store.state.withLock(\.held) == 0)
    hurry.open()
    await hurrying.value
  }

  @Test func `the request for the lease is not repeated after its caller gave up`() async throws {
    store.state.withLock { $0.isFree = false }
    weak var waiting: SessionLease?
    do {
      let lease = SessionLease(accountID: "a")
      waiting = lease
      try await givesUp(lease)
    }
    // A pending request would keep the `SessionLease` alive, because the clock stands still.
    while waiting != nil { try await Task.sleep(for: .milliseconds(2)) }
  }

  @Test func `after a caller gave up, the next caller starts a new request for the lease`()
    async throws
  {
    let lease = SessionLease(accountID: "a")
    for _ in 0..<20 {
      store.state.withLock { $0.isFree = false }
      try await givesUp(lease)
      store.state.withLock { $0.isFree = true }
      #expect(await lease.acquire(from: store, environment).error == nil)
      #expect(store.state.withLock(\.held) == 1)
      lease.release()
      // A request of the caller that gave up may still get the lease, and then releases it.
      try await eventually { [store] in store.state.withLock(\.held) == 0 }
    }
  }
}
