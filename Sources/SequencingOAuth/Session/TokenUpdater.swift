import LoopbackHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The timer of a session: one task that sleeps until there is something to do.
final class TokenUpdater: Sendable {
  fileprivate struct State {
    var date: Date?
    var task: Task<Void, Never>?
    /// Tells a task that was replaced from the one that counts.
    var count = 0
  }

  private let state = Locked(State())

  deinit {
    state.withLock(\.task)?.cancel()
  }

  /// Sets the timer to what `dueAt` says now; it stays as it is where that has not changed.
  func reschedule(
    _ clock: any WallClock, dueAt: @Sendable () -> Date?,
    _ work: @escaping @Sendable () async -> Void
  ) {
    let old = state.withLock { state -> Task<Void, Never>? in
      // Asked here, so that of two calls at once the one with the older news does not win.
      let date = dueAt()
      guard date != state.date else { return nil }
      let old = state.reset()
      guard let date else { return old }
      let count = state.count
      state.date = date
      state.task = Task { [weak self] in
        // The clock is waited for without holding the timer's owner.
        guard (try? await clock.sleep(until: date)) != nil, self?.isDue(count) == true else {
          return
        }
        await work()
      }
      return old
    }
    // A clock is an app's own, and its handler of a cancellation runs here.
    old?.cancel()
  }

  private func isDue(_ count: Int) -> Bool {
    state.withLock { state in
      guard state.count == count else { return false }
      // The work is not to be cancelled by the rescheduling that it brings about.
      state.task = nil
      state.date = nil
      return true
    }
  }
}

extension TokenUpdater.State {
  /// Forgets the task, which is the caller's to cancel, outside the lock.
  fileprivate mutating func reset() -> Task<Void, Never>? {
    defer {
      task = nil
      date = nil
      count += 1
    }
    return task
  }
}
