import SQBasics
import Testing

@testable import SequencingOAuth
@testable import SequencingOAuthPipes
@testable import TestSupport

/// What `cancel()` of a pipe reaches.
@Suite(.timeLimit(.minutes(1))) struct RunningOperationsTests {
  private let operations = RunningOperations()

  @Test(arguments: [true, false])
  func `a request is interrupted, also one that has not begun to wait`(isEarly: Bool) async {
    await operations.run { interruption in
      if isEarly { operations.cancelAll() }
      await withCheckedContinuation { ended in
        interruption.whenRaised { ended.resume() }
        if !isEarly { operations.cancelAll() }
      }
    }
  }

  @Test func `what comes after a request is cancelled with it`() async {
    let result = await operations.run { interruption in
      operations.cancelAll()
      return await interruption.result { () async throws(PipeError) in
        while !Task.isCancelled { await Task.yield() }
        throw .cancelled
      }
    }
    guard case .failure(.cancelled) = result else {
      Issue.record("\(result)")
      return
    }
  }

  @Test func `what begins later is not cancelled`() async {
    operations.cancelAll()
    let isCancelled = await operations.run { await $0.result { Task.isCancelled } }.get()
    #expect(!isCancelled)
  }
}
