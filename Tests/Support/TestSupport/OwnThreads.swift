import Dispatch
package import Testing

/// A trait that runs a test outside Swift's thread pool: `@Test(.ownThreads)`.
///
/// A test that expects its process to exit (`#expect(processExitsWith:)`) reads the output of that
/// process in calls that block. On a machine with two cores, one such test holds the whole pool,
/// and every other test waits until that process has ended.
package struct OwnThreads: TestTrait, TestScoping {
  /// The queue gives each job its own thread.
  private static let executor = QueueExecutor(
    DispatchQueue(label: "tests with threads of their own", attributes: .concurrent))

  /// Runs the test with an executor that gives each job its own thread.
  package func provideScope(
    for test: Test, testCase: Test.Case?,
    performing work: @concurrent @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(Self.executor) { try await work() }
  }
}

extension Trait where Self == OwnThreads {
  /// Runs a test outside Swift's thread pool, because it blocks while it waits for a process.
  package static var ownThreads: Self { OwnThreads() }
}

/// Runs a body on a serial queue of its own, for a process that has no free file descriptor.
///
/// While jobs wait in one of Dispatch's shared queues, Dispatch opens a file each second, and
/// crashes if it cannot. It does not do so for serial queues.
@discardableResult
package func onSerialQueue<Value>(_ body: () async throws -> Value) async rethrows -> Value {
  let queue = DispatchQueue(label: "tests without free descriptors")
  return try await withTaskExecutorPreference(QueueExecutor(queue)) { try await body() }
}

/// An executor that runs jobs on a queue.
private final class QueueExecutor: TaskExecutor {
  private let queue: DispatchQueue

  init(_ queue: DispatchQueue) { self.queue = queue }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedTaskExecutor()
    queue.async { job.runSynchronously(on: executor) }
  }
}
