import SQBasics

/// The observers of events: a handler and any number of streams.
///
/// Each observer gets each event once.
package final class EventObservers<Event: Sendable>: Sendable {
  typealias Handler = @Sendable (Event) -> Void

  private struct State {
    var handler: Handler?
    var streams: [Int: AsyncStream<Event>.Continuation] = [:]
    var lastStream = 0
    var isFinished = false
  }

  private let state = Locked(State())

  package init() {}

  deinit {
    finish()
  }

  /// Ends all streams, also those that are created later.
  package func finish() {
    let streams = state.withLock { state in
      state.isFinished = true
      return state.streams
    }
    for stream in streams.values { stream.finish() }
  }

  /// Sets the closure that receives each event.
  func setHandler(_ handler: @escaping Handler) {
    state.withLock { $0.handler = handler }
  }

  /// Creates a stream of all later events.
  ///
  /// The stream ends with `finish()`, or when this object is released. If a reader falls behind,
  /// only the newest `limit` events are kept for it: an event may contain a token, and events must
  /// not accumulate for a reader that never reads again.
  package func stream(atMost limit: Int) -> AsyncStream<Event> {
    AsyncStream(bufferingPolicy: .bufferingNewest(limit)) { continuation in
      let id: Int? = state.withLock { state in
        guard !state.isFinished else { return nil }
        state.lastStream += 1
        state.streams[state.lastStream] = continuation
        return state.lastStream
      }
      guard let id else { return continuation.finish() }
      continuation.onTermination = { [weak self] _ in
        self?.state.withLock { $0.streams[id] = nil }
      }
    }
  }

  package func tell(_ event: Event) {
    let (handler, streams) = state.withLock { ($0.handler, Array($0.streams.values)) }
    handler?(event)
    for stream in streams { stream.yield(event) }
  }
}
