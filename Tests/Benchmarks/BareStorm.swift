import SQBasics

/// Tasks that all wait for one request by libcurl, with as little work in Swift as possible.
final class BareStorm: Sendable {
  private struct State {
    var isOver = false
    var waiting: [UnsafeContinuation<Void, Never>] = []
  }

  private let callers: Int
  private let state = Locked(State())

  init(_ callers: Int) {
    self.callers = callers
  }

  /// Starts the tasks and sends the request; the sample ends when each task has ended.
  func run(_ post: RawCurl.Post) async throws -> Benchmark.Sample {
    try await sample(1) {
      let tasks = (0..<callers).map { _ in Task { await wait() } }
      _ = try await RawCurl.posts(post, 1)
      let waiting = state.withLock { state in
        state.isOver = true
        return state.waiting
      }
      for continuation in waiting { continuation.resume() }
      for task in tasks { await task.value }
    }
  }

  private func wait() async {
    await withUnsafeContinuation { continuation in
      let isOver = state.withLock { state in
        if !state.isOver { state.waiting.append(continuation) }
        return state.isOver
      }
      if isOver { continuation.resume() }
    }
  }
}
