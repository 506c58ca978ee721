import Dispatch

/// A process with another library, which works only on command.
///
/// The process measures its own work, so the time of the command does not count.
struct WorkProcess: Sendable {
  private let companion: Companion
  /// The queue of the thread that waits for the answers.
  private let queue = DispatchQueue(label: "work process")
  private let name: String

  /// Starts a program that answers each line of its input with `ok NANOSECONDS FAILURES`.
  init(_ name: String, _ path: String, _ arguments: [String] = []) throws {
    self.name = name
    companion = try Companion(path, arguments)
  }

  func stop() {
    companion.stop()
  }

  struct Answer {
    var duration: Duration
    var failures: Int
  }

  func ask(_ command: String) async throws -> Answer {
    let answer = try await withCheckedThrowingContinuation { continuation in
      queue.async {
        continuation.resume(
          with: Result {
            try companion.write(Array("\(command)\n".utf8))
            var line: [UInt8] = []
            while line.last != UInt8(ascii: "\n") { line += try companion.read(atMost: 4096) }
            return String(decoding: line, as: UTF8.self)
          })
      }
    }
    let words = answer.split(whereSeparator: \.isWhitespace)
    guard words.count == 3, words[0] == "ok", let nanoseconds = Int(words[1]),
      let failures = Int(words[2])
    else { throw BenchmarkError("\(name): \(answer)") }
    return Answer(duration: .nanoseconds(nanoseconds), failures: failures)
  }
}
