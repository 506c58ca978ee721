import SQBasics
import SequencingOAuth

@testable import TestSupport

/// The callers of one schedule.
///
/// Each must get exactly one result.
final class Callers: Sendable {
  private struct State {
    var running: [Int: Task<Void, any Error>] = [:]
    var cancelled: Set<Int> = []
    var over: Set<Int> = []
    /// How often the completion of each caller was called.
    var completions: [Int: Int] = [:]
    var last = 0
    var ended = 0
  }

  private let state = Locked(State())
  private let report: Report
  private let store: WatchedStore

  init(_ report: Report, _ store: WatchedStore) {
    self.report = report
    self.store = store
  }

  /// The number of callers that have a result.
  var ended: Int { state.withLock(\.ended) }

  /// Starts a caller in a task.
  func start(_ call: Schedule.Call, _ work: @escaping @Sendable () async throws -> SQToken?) {
    let id = next()
    let task = begin {
      do {
        if let token = try await work() { self.check(token, call) }
      } catch {
        self.check(error, call, id)
      }
      self.state.withLock { state in
        state.ended += 1
        state.running[id] = nil
        state.over.insert(id)
      }
    }
    // The call may already have ended.
    state.withLock { if !$0.over.contains(id) { $0.running[id] = task } }
  }

  /// Starts a caller with a completion.
  func start(
    _ call: Schedule.Call,
    _ work: (@escaping @Sendable (Result<SQToken, SQOAuthError>) -> Void) -> Void
  ) {
    let id = next()
    state.withLock { $0.completions[id] = 0 }
    work { result in
      switch result {
      case .success(let token): self.check(token, call)
      case .failure(let error): self.check(error, call, id)
      }
      self.state.withLock { state in
        state.ended += 1
        state.completions[id, default: 0] += 1
      }
    }
  }

  /// Cancels the last `count` of the running callers.
  func cancel(_ count: Int) {
    let tasks = state.withLock { state in
      let ids = state.running.keys.sorted().suffix(count)
      state.cancelled.formUnion(ids)
      return ids.compactMap { state.running[$0] }
    }
    for task in tasks { task.cancel() }
  }

  /// Whether every caller has a result.
  var areDone: Bool { state.withLock { $0.ended == $0.last } }

  /// Reports completions that were not called exactly once.
  func finish() {
    let counts = state.withLock(\.completions).values
    if counts.contains(where: { $0 != 1 }) {
      report.add("a completion was not called exactly once")
    }
  }

  private func next() -> Int {
    state.withLock { state in
      state.last += 1
      return state.last
    }
  }

  private func check(_ token: SQToken, _ call: Schedule.Call) {
    if token.refreshToken != nil, !store.knows(token) {
      report.add("\(call) saw a token before the store did")
    }
  }

  private func check(_ error: any Error, _ call: Schedule.Call, _ id: Int) {
    guard let error = error as? SQOAuthError else {
      return report.add("\(call) failed with \(error)")
    }
    // Any cancelled caller may end the sign-in for which `requestAccess` waits. Every other call
    // may fail with `cancelled` only if its own caller was cancelled.
    let isFree = state.withLock { $0.cancelled.contains(id) } || call == .requestAccess
    if error.code == .cancelled, !isFree {
      report.add("\(call) was cancelled although only another caller was: \(error)")
    }
  }
}
