import Basics
import Testing

@testable import SequencingOAuth

/// What `cancel()` of a pipe reaches.
@Suite(.timeLimit(.minutes(1))) struct RunningOperationsTests {
  private let operations = RunningOperations()

  @Test func `an exchange is interrupted, also one that has not begun to wait`() async {
    for isEarly in [true, false] {
      let result = await operations.run { interruption in
        if isEarly { operations.cancelAll() }
        await withCheckedContinuation { ended in
          interruption.whenRaised { ended.resume() }
          if !isEarly { operations.cancelAll() }
        }
      } isEnd: {
        true
      } next: {
      }
      guard case .success = result else {
        Issue.record("\(result)")
        continue
      }
    }
  }

  @Test func `what comes behind an exchange is cancelled with it`() async {
    let result = await operations.run { _ in
    } isEnd: {
      operations.cancelAll()
      return false
    } next: { () async throws(PipeError) in
      while !Task.isCancelled { await Task.yield() }
      throw .cancelled
    }
    guard case .failure(.cancelled) = result else {
      Issue.record("\(result)")
      return
    }
  }

  @Test func `what begins later is not cancelled`() async {
    operations.cancelAll()
    let result = await operations.run { () async throws(PipeError) in Task.isCancelled }
    #expect((try? result.get()) == false)
  }
}
