import SQBasics
import Testing

/// Fetches that several callers share.
@Suite(.timeLimit(.minutes(1))) struct SharedFetchesTests {
  private typealias Fetches = SharedFetches<String, Int, CancellationError>

  /// Returns a task that waits for a fetch, after the fetch has begun.
  private func waiter(
    of fetches: Fetches, _ key: String = "key", endingWith end: OneShot<Int>
  ) async -> Task<Int?, any Error> {
    let begun = OneShot<Void>()
    let task = Task {
      try await fetches.value(of: key) { () throws(CancellationError) in
        begun.resolve(())
        guard let value = await end.value() else {
          end.resolve(-1)
          throw CancellationError()
        }
        return value
      }
    }
    await begun.wait()
    return task
  }

  @Test func `a fetch continues after its last caller is cancelled, and its value is cached`()
    async throws
  {
    let fetches = Fetches()
    let end = OneShot<Int>()
    let task = await waiter(of: fetches, endingWith: end)
    task.cancel()
    #expect(try await task.value == nil)
    let next = Task {
      try await fetches.value(of: "key") { () throws(CancellationError) in 2 }
    }
    end.resolve(1)
    #expect(try await next.value == 1)
    #expect(fetches.known("key") == 1)
  }

  @Test func `at most a limited number of fetches continue without a caller`() async throws {
    let fetches = Fetches(abandonedLimit: 1)
    let ends = (0..<3).map { _ in OneShot<Int>() }
    func abandon(_ number: Int) async throws {
      let task = await waiter(of: fetches, "\(number)", endingWith: ends[number])
      task.cancel()
      #expect(try await task.value == nil)
    }
    try await abandon(0)
    try await abandon(1)
    #expect(await ends[1].wait() == -1)
    ends[0].resolve(10)
    #expect(try await fetches.value(of: "0") { () throws(CancellationError) in 20 } == 10)
    // One fetch at a time may continue without a caller. The fetch of "0" has ended, so that of "2"
    // may continue.
    try await abandon(2)
    ends[2].resolve(12)
    #expect(try await fetches.value(of: "2") { () throws(CancellationError) in 20 } == 12)
  }

  @Test(arguments: [false, true])
  func `if no fetch may continue without a caller, cancelling the last caller cancels the fetch`(
    isDetached: Bool
  ) async throws {
    let fetches = Fetches(abandonedLimit: 0)
    let end = OneShot<Int>()
    let task = await waiter(of: fetches, endingWith: end)
    if isDetached { fetches.detach("key") }
    task.cancel()
    #expect(try await task.value == nil)
    #expect(await end.wait() == -1)
  }

  @Test
  func `after a call of detach, the old fetch returns its value, but a newer value is cached`()
    async throws
  {
    let fetches = Fetches()
    let end = OneShot<Int>()
    let task = await waiter(of: fetches, endingWith: end)
    fetches.detach("key")
    #expect(try await fetches.value(of: "key") { () throws(CancellationError) in 2 } == 2)
    end.resolve(1)
    #expect(try await task.value == 1)
    #expect(fetches.known("key") == 2)
  }

  @Test func `a cancelled caller does not end a fetch for which a second caller waits`()
    async throws
  {
    let fetches = Fetches()
    let end = OneShot<Int>()
    let staying = await waiter(of: fetches, endingWith: end)
    let leaving = Task {
      try await fetches.value(of: "key") { () throws(CancellationError) in 3 }
    }
    leaving.cancel()
    let left = try await leaving.value
    #expect(left == nil)
    end.resolve(1)
    #expect(try await staying.value == 1)
    #expect(fetches.known("key") == 1)
  }
}
