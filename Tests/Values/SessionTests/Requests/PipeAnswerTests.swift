import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import SequencingOAuthPipes
@testable import TestSupport

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

  /// The app compares and hashes what its decoder returns.
  @Test func `many combining marks in a row are separated, also for the app's own types`()
    async throws
  {
    let run = marks(31)
    let response = WebResponse(
      status: 200, body: Data("{\"\(run)\":[\"\(run)\",1.5,null,true]}".utf8))
    let answer = try await PipeAnswer(response, JSONDecoder(), Interruption())
    let safe: JSONValue = [run.streamSafe: [.string(run.streamSafe), 1.5, .null, true]]
    #expect(try answer.value(JSONValue.self) == safe)
    let decoded = try answer.value([String: [JSONValue]].self)
    #expect(JSONValue.object(decoded.mapValues(JSONValue.array)) == safe)
    #expect(answer.response.body == response.body)
  }

  private struct Numbers: Decodable, Equatable {
    var id: UInt64
    var price: Decimal
    var text: String
    var last: String
  }

  /// `JSONValue` would keep neither all digits of these numbers nor the order of the members.
  @Test func `the repair of one text changes nothing else of an answer`() async throws {
    let run = marks(31)
    let start = #"{ "id" : 18446744073709551615, "price":0.1234567890123456789012, "text":"#
    let end = #", "last":"\u00e9\/\n" }"#
    let body = Data("\(start)\"\(run)\\\"\\u0001\"\(end)".utf8)
    let (value, repaired) = try await JSONReader.repairedWithPauses(of: body, .answer) { false }
    let safe = run.streamSafe + "\"\u{1}"
    #expect(repaired == Data("\(start)\"\(run.streamSafe)\\\"\\u0001\"\(end)".utf8))
    #expect(value["text"].string == safe)
    let answer = try await PipeAnswer(
      WebResponse(status: 200, body: body), JSONDecoder(), Interruption())
    let numbers = try answer.value(Numbers.self)
    #expect(numbers.id == .max && numbers.text == safe && numbers.last == "é/\n")
    #expect(numbers.price == Decimal(string: "0.1234567890123456789012"))
    // Part of a larger text, whose indices do not begin at zero.
    let part = (Data("x".utf8) + body).dropFirst()
    let (_, other) = try await JSONReader.repairedWithPauses(of: part, .answer) { false }
    #expect(other == repaired)
  }
}
