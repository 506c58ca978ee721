import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Between libcurl, which brings content, and the async code that consumes it.
///
/// It takes up to ``limit`` bytes ahead of the consumer; then libcurl halts, and with it, through
/// TCP or HTTP/2 flow control, the server.
final class DownloadQueue: Sendable {
  static let limit = 1024 * 1024

  /// What the consumer gets next.
  enum Event {
    case head(HTTPResponseHead)
    /// Whatever has come since, and whether libcurl halted and must be told to go on.
    case content(Data, wasHalted: Bool)
  }

  private struct State {
    var head: HTTPResponseHead?
    var content = Data()
    var isHalted = false
    var isClosed = false
    var consumer: CheckedContinuation<Void, Never>?
  }

  private let state = Locked(State())

  /// The queue for a response that does not stay in memory.
  static func make(_ destination: HTTPDestination) -> DownloadQueue? {
    if case .memory = destination { nil } else { DownloadQueue() }
  }

  // MARK: libcurl's side

  func begin(_ head: HTTPResponseHead) {
    let consumer = state.withLock { state in
      state.head = head
      return state.consumer.take()
    }
    consumer?.resume()
  }

  /// Takes bytes, or none of them when the consumer is too far behind.
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

  /// No more will come.
  func close() {
    let consumer = state.withLock { state in
      state.isClosed = true
      return state.consumer.take()
    }
    consumer?.resume()
  }

  // MARK: The consumer's side

  /// The next event; `nil` when there will be none.
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
