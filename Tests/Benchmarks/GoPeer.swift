import FoundationEssentials
import Glibc

/// A process that runs Go's `golang.org/x/oauth2`, with which the SDK is compared.
struct GoPeer: Sendable {
  static let name = "Go x/oauth2"

  private let process: WorkProcess

  /// Starts the program in `GO_PEER`, or returns `nil` if the variable is not set.
  static func start() throws -> GoPeer? {
    guard let path = getenv("GO_PEER").map({ String(cString: $0) }), !path.isEmpty else {
      return nil
    }
    return GoPeer(process: try WorkProcess(name, path))
  }

  /// Reads a valid token `count` times.
  func validTokens(_ count: Int) async throws -> Benchmark.Sample {
    let answer = try await process.ask("valid \(count)")
    return Benchmark.Sample(operations: count, duration: answer.duration)
  }

  /// Makes `count` client credentials requests, one after another.
  func tokenRequests(_ count: Int, _ url: URL) async throws -> Benchmark.Sample {
    let answer = try await process.ask("token \(count) \(url.absoluteString)")
    return Benchmark.Sample(operations: count, duration: answer.duration)
  }

  /// Lets many callers ask for an expired token at the same time.
  ///
  /// The sample counts all callers together as one operation.
  func storm(_ callers: Int, _ url: URL, fails: Bool = false) async throws -> Benchmark.Sample {
    let answer = try await process.ask("storm \(callers) \(url.absoluteString)")
    guard answer.failures == (fails ? callers : 0) else {
      throw BenchmarkError("Go: \(answer.failures) of \(callers) callers failed")
    }
    return Benchmark.Sample(operations: 1, duration: answer.duration)
  }

  /// Gets a resource `count` times with a valid token, `width` requests at a time.
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
