import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// An executor that runs each part of a task, from one suspension to the next, on a new thread.
private final class NewThreads: TaskExecutor {
  private let suspended = Locked<[pthread_t: CheckedContinuation<Void, Never>]>([:])

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let hasStarted = Threads.start { [self] in
      job.runSynchronously(on: asUnownedTaskExecutor())
      suspended.withLock { $0.removeValue(forKey: pthread_self()) }?.resume()
    }
    precondition(hasStarted)
  }

  /// Suspends the task until its thread has left it, so that it continues on another thread.
  func change() async {
    await withCheckedContinuation { continuation in
      suspended.withLock { $0[pthread_self()] = continuation }
    }
  }
}

extension ClientEnvironment {
  /// Changes the environment after a change of the thread, as an app does that loads its settings.
  fileprivate mutating func load(on threads: NewThreads) async {
    await threads.change()
    landingPage.appName = "loaded"
  }
}

/// Changes of the environment that contain an `await`; each runs in a process of its own.
@Suite(.timeLimit(.minutes(1))) struct InPlaceChangeTests {
  /// If the program went on, every later change would wait for ever.
  @Test(.ownThreads) func `a change in place across an await stops the program with advice`()
    async throws
  {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let (oauth, threads) = (SQOAuth(), NewThreads())
      await Task(executorPreference: threads) {
        await oauth.environment.load(on: threads)
      }.value
    }
    let errors = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(errors.contains("change a copy, and assign the copy"), "\(errors)")
  }

  @Test(.ownThreads) func `a changed copy can be assigned after an await`() async {
    await #expect(processExitsWith: .success) {
      let (oauth, threads) = (SQOAuth(), NewThreads())
      await Task(executorPreference: threads) {
        var environment = oauth.environment
        await environment.load(on: threads)
        oauth.environment = environment
      }.value
      #expect(oauth.environment.landingPage.appName == "loaded")
    }
  }
}
