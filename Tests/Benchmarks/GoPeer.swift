import FoundationEssentials
import Glibc

/// Go's `golang.org/x/oauth2`.
struct GoPeer: Sendable {
  static let name = "Go x/oauth2"

  private let process: WorkProcess

  /// Starts the program that `GO_PEER` names; returns `nil` if it names none.
  static func start() throws -> GoPeer? {
    guard let path = getenv("GO_PEER").map({ String(cString: $0) }), !path.isEmpty else {
      return nil
    }
    return GoPeer(process: try WorkProcess(name, path))
  }

  /// Reads a valid token again and again.
  func validTokens(_ count: Int) async throws -> Benchmark.Sample {
    let answer = try await process.ask("valid \(count)")
    return Benchmark.Sample(operations: count, duration: answer.duration)
  }

  /// Makes client credentials requests, one after the other.
  func tokenRequests(_ count: Int, _ url: URL) async throws -> Benchmark.Sample {
    let answer = try await process.ask("token \(count) \(url.absoluteString)")
    return Benchmark.Sample(operations: count, duration: answer.duration)
  }

  /// Lets callers ask at once for a token that has expired; the sample is one storm.
  func storm(_ callers: Int, _ url: URL, fails: Bool = false) async throws -> Benchmark.Sample {
    let answer = try await process.ask("storm \(callers) \(url.absoluteString)")
    guard answer.failures == (fails ? callers : 0) else {
      throw BenchmarkError("Go: \(answer.failures) of \(callers) callers failed")
    }
    return Benchmark.Sample(operations: 1, duration: answer.duration)
  }

  /// Gets a resource again and again with a valid token, so many at once.
  func reads(_ count: Int, width: Int, _ url: URL) async throws -> Benchmark.Sample {
    let answer = try await process.ask("read \(count) \(url.absoluteString) \(width)")
    guard answer.failures == 0 else {
      throw BenchmarkError("Go: \(answer.failures) of \(count) reads failed")
    }
    return Benchmark.Sample(operations: count, duration: answer.duration)
  }

  func stop() {
    process.stop()
  }
}
