import Dispatch
import SQBasics
import Testing

/// Calls that wait for the earlier work of a queue.
@Suite(.timeLimit(.minutes(1))) struct BlockingQueueTests {
  private struct Skipped: Error {}

  private let queue = BlockingQueue("test")
  private let gate = DispatchSemaphore(value: 0)

  @Test func `a time limit counts from the call, not from the start of its work`() async {
    queue.start { [gate] in gate.wait() }
    let call = Task.startingHere { [queue] in await queue.run { BlockingQueue.callStart } }
    // The call is in the queue now, and its work has not begun.
    let isMade = ContinuousClock.now
    gate.signal()
    #expect(await call.value <= isMade)
  }

  @Test func `outside of a queue a time limit counts from now`() {
    let before = ContinuousClock.now
    #expect(BlockingQueue.callStart >= before)
  }

  @Test func `work never runs if its caller is cancelled before it begins`() async {
    let hasRun = Locked(false)
    queue.start { [gate] in gate.wait() }
    let call = Task.startingHere { [queue] () async -> Result<Void, Skipped> in
      do throws(Skipped) {
        return .success(
          try await queue.run(unlessCancelled: Skipped()) { () throws(Skipped) in
            hasRun.withLock { $0 = true }
          })
      } catch {
        return .failure(error)
      }
    }
    // The call is in the queue now. It ends although the earlier work still runs.
    call.cancel()
    let result = await call.value
    #expect(throws: Skipped.self) { try result.get() }
    gate.signal()
    await queue.run {}
    let ran = hasRun.withLock(\.self)
    #expect(!ran)
  }

  @Test func `work that has begun is finished even if its caller is cancelled`() async throws {
    let hasBegun = OneShot<Void>()
    let call = Task { [queue, gate] in
      try await queue.run(unlessCancelled: Skipped()) { () throws(Skipped) in
        hasBegun.resolve(())
        gate.wait()
        return 1
      }
    }
    await hasBegun.wait()
    call.cancel()
    gate.signal()
    #expect(try await call.value == 1)
  }
}
