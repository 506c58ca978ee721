import Basics

/// Between the transport, which brings messages, and whoever reads them.
///
/// The transport waits until what it brought last was read, and with it, in time, the server.
final class MessageInbox: Sendable {
  private struct State {
    /// In the order of their reading, reversed.
    var frames: [MessageFrame] = []
    var end: Result<Void, RPCError>?
    var readers: [CheckedContinuation<Void, Never>] = []
    var writer: CheckedContinuation<Void, Never>?
  }

  private let state = Locked(State())

  // MARK: The transport's side

  /// Hands messages over when those before them were read; returns at once where there is an end.
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

  /// No more will come; after an error, what was not read is dropped.
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

  /// The next message, or the end; `nil` when the task that waits is cancelled.
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
      // Those that are not cancelled look, and wait again.
      for reader in state.withLock({ Self.takeReaders(&$0) }) { reader.resume() }
    }
  }

  private static func takeReaders(_ state: inout State) -> [CheckedContinuation<Void, Never>] {
    defer { state.readers = [] }
    return state.readers
  }
}
