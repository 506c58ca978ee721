import Basics

/// The messages that have arrived from the server and that the app has not read yet.
///
/// The transport waits until the app has read the messages that it delivered last. When the buffers
/// of the connection are full, the server must wait too.
final class MessageInbox: Sendable {
  private struct State {
    /// The messages in reverse: the last is read first.
    var frames: [MessageFrame] = []
    var end: Result<Void, RPCError>?
    var readers: [CheckedContinuation<Void, Never>] = []
    var writer: CheckedContinuation<Void, Never>?
  }

  private let state = Locked(State())

  // MARK: The transport's side

  /// Adds messages after the earlier ones were read; drops them at once if the call has ended.
  func put(_ frames: [MessageFrame]) async {
    if frames.isEmpty { return }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isFree = state.withLock { state in
          if state.frames.isEmpty || state.end != nil || Task.isCancelled { return true }
          state.writer = continuation
          return false
        }
        if isFree { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.writer.take() }?.resume()
    }
    let readers = state.withLock { state in
      if state.end == nil { state.frames = frames.reversed() + state.frames }
      return Self.takeReaders(&state)
    }
    for reader in readers { reader.resume() }
  }

  /// Marks the end: no further message comes.
  ///
  /// After an error of this side, the messages that were not read are dropped; after the server's,
  /// they can still be read.
  func finish(_ end: Result<Void, RPCError>) {
    let (readers, writer) = state.withLock { state in
      if state.end == nil { state.end = end }
      if case .failure(let error) = end, !error.isFromServer { state.frames = [] }
      return (Self.takeReaders(&state), state.writer.take())
    }
    for reader in readers { reader.resume() }
    writer?.resume()
  }

  // MARK: The reader's side

  /// Waits for the next message or the end; returns `nil` if the waiting task is cancelled.
  func next() async -> Result<MessageFrame?, RPCError>? {
    while true {
      let (answer, writer) = state.withLock { state in
        (Self.take(&state), state.frames.isEmpty ? state.writer.take() : nil)
      }
      writer?.resume()
      if let answer { return answer }
      if Task.isCancelled { return nil }
      await wait()
    }
  }

  private static func take(_ state: inout State) -> Result<MessageFrame?, RPCError>? {
    if let frame = state.frames.popLast() { return .success(frame) }
    return state.end.map { $0.map { nil } }
  }

  private func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          if !state.frames.isEmpty || state.end != nil || Task.isCancelled { return true }
          state.readers.append(continuation)
          return false
        }
        if isReady { continuation.resume() }
      }
    } onCancel: {
      // This wakes all readers; those that are not cancelled check again and wait again.
      for reader in state.withLock({ Self.takeReaders(&$0) }) { reader.resume() }
    }
  }

  private static func takeReaders(_ state: inout State) -> [CheckedContinuation<Void, Never>] {
    defer { state.readers = [] }
    return state.readers
  }
}
