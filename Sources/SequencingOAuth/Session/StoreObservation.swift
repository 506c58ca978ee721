import SQBasics

/// A session's observation of its account in the store: it reads the store after each change.
package final class StoreObservation: Sendable {
  private struct State {
    var observation: AccountObservation?
    /// Whether the observation has started; also `true` if the store cannot report changes.
    var hasBegun = false
    /// The number of ends; an observation that starts during an end may be of the previous store.
    var ends = 0
    var isClosed = false
    var isLooking = false
    var looksAgain = false
  }

  private let state = Locked(State())

  /// Starts the observation, unless it has already started.
  func begin(_ observe: () -> AccountObservation?) {
    let begun = state.withLock { state -> Int? in
      guard !state.hasBegun, !state.isClosed else { return nil }
      state.hasBegun = true
      return state.ends
    }
    guard let begun, let observation = observe() else { return }
    let unused = state.withLock { state -> AccountObservation? in
      guard state.ends == begun else { return observation }
      state.observation = observation
      return nil
    }
    unused?.end()
  }

  /// Ends the observation, so that the next one may observe a different store.
  func end() {
    let observation = state.withLock { state in
      state.hasBegun = false
      state.ends += 1
      defer { state.observation = nil }
      return state.observation
    }
    observation?.end()
  }

  /// Ends the observation permanently.
  package func close() {
    state.withLock { $0.isClosed = true }
    end()
  }

  /// Calls `look` to read the store; if a read is in progress, the store is read again afterwards.
  func look(_ look: @escaping @Sendable () async -> Void) {
    let begins = state.withLock { state in
      state.looksAgain = true
      defer { state.isLooking = true }
      return !state.isLooking
    }
    guard begins else { return }
    Task { while takeLook() { await look() } }
  }

  private func takeLook() -> Bool {
    state.withLock { state in
      if state.isClosed { state.looksAgain = false }
      defer { state.looksAgain = false }
      state.isLooking = state.looksAgain
      return state.looksAgain
    }
  }
}
