import Dispatch
import SQBasics

/// An executor that can hold back its tasks until the test releases them.
///
/// It imitates a system that does not run a task for a while.
final class HoldingExecutor: TaskExecutor {
  private struct State {
    var isHolding = false
    var held: [UnownedJob] = []
    var running = 0
  }

  private let state = Locked(State())
  private let queue = DispatchQueue(label: "HoldingExecutor")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isHeld = state.withLock { state in
      if state.isHolding { state.held.append(job) } else { state.running += 1 }
      return state.isHolding
    }
    if !isHeld { run(job) }
  }

  /// Returns when every task of the executor waits for something.
  func rests() async throws {
    while state.withLock(\.running) > 0 { try await Task.sleep(for: .milliseconds(2)) }
  }

  /// Holds back all tasks from now on.
  func hold() { state.withLock { $0.isHolding = true } }

  func letGo() {
    state.withLock { state in
      state.isHolding = false
      state.running += state.held.count
      // The loop needs the lock: no job that a held job enqueues may come before another held job.
      for job in state.held { run(job) }
      state.held = []
    }
  }

  private func run(_ job: UnownedJob) {
    queue.async { [self] in
      job.runSynchronously(on: asUnownedTaskExecutor())
      state.withLock { $0.running -= 1 }
    }
  }
}
