import LoopbackHTTP

/// Lets a few in at a time.
final class Turnstile: Sendable {
  private let free: Locked<Int>

  init(places: Int) {
    free = Locked(places)
  }

  /// Waits for a place; the test's own time limit is what ends the wait.
  func take() async throws {
    try await eventually("a place is free", within: .seconds(600)) {
      free.withLock { free in
        guard free > 0 else { return false }
        free -= 1
        return true
      }
    }
  }

  func give() {
    free.withLock { $0 += 1 }
  }
}
