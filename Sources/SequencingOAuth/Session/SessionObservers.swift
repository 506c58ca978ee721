import Basics

/// Delivers each event of a session once to its handler and once to each of its streams.
final class SessionObservers: Sendable {
  typealias Handler = @Sendable (SessionEvent) -> Void

  private struct State {
    var handler: Handler?
    var streams: [Int: AsyncStream<SessionEvent>.Continuation] = [:]
    var lastStream = 0
  }

  private let state = Locked(State())

  deinit {
    for stream in state.withLock(\.streams).values { stream.finish() }
  }

  /// Sets the closure that gets each event.
  func setHandler(_ handler: @escaping Handler) {
    state.withLock { $0.handler = handler }
  }

  /// Makes a stream of all later events; it ends when the session's owner is released.
  func stream() -> AsyncStream<SessionEvent> {
    AsyncStream { continuation in
      let id = state.withLock { state in
        state.lastStream += 1
        state.streams[state.lastStream] = continuation
        return state.lastStream
      }
      continuation.onTermination = { [weak self] _ in
        self?.state.withLock { $0.streams[id] = nil }
      }
    }
  }

  func tell(_ event: SessionEvent) {
    let (handler, streams) = state.withLock { ($0.handler, Array($0.streams.values)) }
    handler?(event)
    for stream in streams { stream.yield(event) }
  }
}
