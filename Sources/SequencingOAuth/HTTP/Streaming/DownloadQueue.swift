import SQBasics
import SQFoundation

/// A bounded queue of response content between libcurl and the async code that consumes it.
///
/// It holds about ``limit`` bytes at most. When it is full, libcurl stops reading, and the flow
/// control of TCP or HTTP/2 stops the server.
final class DownloadQueue: Sendable {
  static let limit = 1024 * 1024

  /// The next step for the consumer: the head first, then pieces of content.
  enum Event {
    case head(WebResponseHead)
    /// All content that has arrived since the last event.
    ///
    /// If `wasHalted` is true, libcurl has stopped reading, and the consumer must make it continue.
    case content(Data, wasHalted: Bool)
  }

  private struct State {
    var head: WebResponseHead?
    var content = Data()
    var isHalted = false
    var isClosed = false
    var consumer: CheckedContinuation<Void, Never>?
  }

  private let state = Locked(State())

  /// Creates a queue for a response that goes to a file or a closure; returns `nil` for memory.
  static func make(_ destination: HTTPDestination) -> DownloadQueue? {
    if case .memory = destination { nil } else { DownloadQueue() }
  }

  // MARK: libcurl's side

  func begin(_ head: WebResponseHead) {
    let consumer = state.withLock { state in
      state.head = head
      return state.consumer.take()
    }
    consumer?.resume()
  }

  /// Stores all of the bytes and returns `true`; if the queue is full, stores none and returns
  /// `false`.
  func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let (isTaken, consumer) = state.withLock { state in
      guard state.content.count < Self.limit else {
        state.isHalted = true
        return (false, state.consumer.take())
      }
      state.content.append(contentsOf: bytes)
      return (true, state.consumer.take())
    }
    consumer?.resume()
    return isTaken
  }

  /// Marks the end of the content.
  func close() {
    let consumer = state.withLock { state in
      state.isClosed = true
      return state.consumer.take()
    }
    consumer?.resume()
  }

  // MARK: The consumer's side

  /// Waits for the next event; returns `nil` at the end of the content.
  func next() async -> Event? {
    while true {
      let (event, isClosed) = state.withLock { state -> (Event?, Bool) in
        (take(&state), state.isClosed)
      }
      if event != nil || isClosed { return event }
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          if state.head != nil || !state.content.isEmpty || state.isClosed { return true }
          state.consumer = continuation
          return false
        }
        if isReady { continuation.resume() }
      }
    }
  }

  private func take(_ state: inout State) -> Event? {
    if let head = state.head.take() { return .head(head) }
    guard !state.content.isEmpty else { return nil }
    let event = Event.content(state.content, wasHalted: state.isHalted)
    state.content = Data()
    state.isHalted = false
    return event
  }
}
