import Dispatch
import FoundationEssentials
import Glibc

/// Go's `golang.org/x/oauth2`, in a process of its own that works only when it is told to.
///
/// It times its own work, so what it takes to tell it is not counted.
struct GoPeer: Sendable {
  static let name = "Go x/oauth2"

  private let companion: Companion
  /// Where the thread is that waits for its answers.
  private let queue = DispatchQueue(label: "Go peer")

  /// Starts the program that `GO_PEER` names; `nil` where there is none.
  static func start() throws -> GoPeer? {
    guard let path = getenv("GO_PEER").map({ String(cString: $0) }), !path.isEmpty else {
      return nil
    }
    return GoPeer(companion: try Companion(path))
  }

  /// Reads a valid token again and again.
  func validTokens(_ count: Int) async throws -> Benchmark.Sample {
    let answer = try await ask("valid \(count)")
    return Benchmark.Sample(operations: count, duration: answer.duration)
  }

  /// Makes client credentials requests, one after the other.
  func tokenRequests(_ count: Int, _ url: URL) async throws -> Benchmark.Sample {
    let answer = try await ask("token \(count) \(url.absoluteString)")
    return Benchmark.Sample(operations: count, duration: answer.duration)
  }

  /// Lets callers ask at once for a token that has expired; the sample is one storm.
  func storm(_ callers: Int, _ url: URL, fails: Bool = false) async throws -> Benchmark.Sample {
    let answer = try await ask("storm \(callers) \(url.absoluteString)")
    guard answer.failures == (fails ? callers : 0) else {
      throw BenchmarkError("Go: \(answer.failures) of \(callers) callers failed")
    }
    return Benchmark.Sample(operations: 1, duration: answer.duration)
  }

  /// Gets a resource again and again with a valid token, so many at once.
  func reads(_ count: Int, width: Int, _ url: URL) async throws -> Benchmark.Sample {
    let answer = try await ask("read \(count) \(url.absoluteString) \(width)")
    guard answer.failures == 0 else {
      throw BenchmarkError("Go: \(answer.failures) of \(count) reads failed")
    }
    return Benchmark.Sample(operations: count, duration: answer.duration)
  }

  func stop() {
    companion.stop()
  }

  private struct Answer {
    var duration: Duration
    var failures: Int
  }

  private func ask(_ command: String) async throws -> Answer {
    let answer = try await withCheckedThrowingContinuation { continuation in
      queue.async {
        continuation.resume(
          with: Result {
            try companion.write(Array("\(command)\n".utf8))
            return String(decoding: try companion.read(atMost: 4096), as: UTF8.self)
          })
      }
    }
    let words = answer.split(whereSeparator: \.isWhitespace)
    guard words.count == 3, words[0] == "ok", let nanoseconds = Int(words[1]),
      let failures = Int(words[2])
    else { throw BenchmarkError("Go: \(answer)") }
    return Answer(duration: .nanoseconds(nanoseconds), failures: failures)
  }
}
