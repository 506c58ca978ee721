import Dispatch
import SQBasics

/// A task executor that runs callbacks on a dispatch queue, if the callbacks belong to no actor.
final class CallbackExecutor: TaskExecutor {
  let queue: DispatchQueue
  private let isMain: Bool

  init(_ queue: DispatchQueue) {
    self.queue = queue
    // On Linux `DispatchQueue.main` returns a new object each time, so the labels are compared.
    isMain = queue.label == DispatchQueue.main.label
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }

  /// Runs a function on the queue, and returns when the function has returned.
  func run(_ function: @escaping @Sendable () async -> Void) async {
    let wait = isMain ? MainThreadWatch.shared.begin() : nil
    await Task(executorPreference: self) {
      if let wait { MainThreadWatch.shared.end(wait) }
      await function()
    }.value
  }
}
