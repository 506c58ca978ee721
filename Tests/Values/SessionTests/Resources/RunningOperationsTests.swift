import SQBasics
import Testing

@testable import SequencingOAuth
@testable import SequencingOAuthPipes
@testable import TestSupport

/// Which operations a pipe's `cancel()` reaches.
@Suite(.timeLimit(.minutes(1))) struct RunningOperationsTests {
  private let operations = RunningOperations()

  @Test(arguments: [true, false])
  func `cancelAll interrupts a request, even before the request begins to wait`(isEarly: Bool) async
  {
    await operations.run { interruption in
      if isEarly { operations.cancelAll() }
      await withCheckedContinuation { ended in
        interruption.whenRaised { ended.resume() }
        if !isEarly { operations.cancelAll() }
      }
    }
  }

  @Test func `cancelAll also cancels the work that follows a request`() async {
    let result = await operations.run { interruption in
      operations.cancelAll()
      return await interruption.result { () async throws(PipeError) in
        while !Task.isCancelled { await Task.yield() }
        throw .cancelled
      }
    }
    guard case .failure(.cancelled) = result else {
      Issue.record("unexpected result: \(result)")
      return
    }
  }

  @Test func `cancelAll does not cancel an operation that begins later`() async {
    operations.cancelAll()
    let isCancelled = await operations.run { await $0.result { Task.isCancelled } }.get()
    #expect(!isCancelled)
  }
}
