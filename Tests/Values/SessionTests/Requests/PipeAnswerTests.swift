import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import SequencingOAuthPipes

/// The decoding of an API's answer with 50,000 values.
@Suite struct PipeAnswerTests {
  private static let long = WebResponse(
    status: 200,
    body: Data(("[" + String(repeating: "1,", count: 49_999) + "1]").utf8))

  private static func count(
    _ interruption: Interruption = Interruption()
  ) async throws(PipeError) -> Int {
    try await PipeAnswer(long, JSONDecoder(), interruption).value([Int].self).count
  }

  @Test func `other tasks on the same executor run while a long response is decoded`() async throws
  {
    let executor = HoldingExecutor()
    let ended = Locked([String]())
    executor.hold()
    let reading = Task(executorPreference: executor) { @Sendable in
      let count = try await Self.count()
      ended.withLock { $0.append("the reader") }
      return count
    }
    let other = Task(executorPreference: executor) { @Sendable in
      ended.withLock { $0.append("the other") }
    }
    executor.letGo()
    #expect(try await reading.value == 50_000)
    await other.value
    #expect(ended.withLock(\.self) == ["the other", "the reader"])
  }

  @Test func `cancelling the pipe's operations stops the decoding`() async throws {
    let interruption = Interruption()
    interruption.raise()
    let error = await #expect(throws: PipeError.self) {
      try await Self.count(interruption)
    }
    guard case .cancelled = error else { throw try #require(error) }
  }

  @Test func `cancelling the task stops the decoding`() async throws {
    let executor = HoldingExecutor()
    executor.hold()
    let reading = Task(executorPreference: executor) { try await Self.count() }
    reading.cancel()
    executor.letGo()
    let error = await #expect(throws: PipeError.self) { try await reading.value }
    guard case .cancelled = error else { throw try #require(error) }
  }
}
