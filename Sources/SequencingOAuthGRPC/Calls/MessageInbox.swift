import SQBasics

/// A buffer of messages from the server that the app has not read yet.
///
/// The number of unread bytes is limited: above the limit, the server cannot send more.
final class MessageInbox: Sendable {
  private struct State {
    /// The messages to read next, in reverse order: the last is read first.
    var frames: [MessageFrame] = []
    /// The messages to read after ``frames``, in order.
    var arrived: [MessageFrame] = []
    var end: Result<Void, RPCCallError>?
    var readers: [CheckedContinuation<Void, Never>] = []
    /// The bytes that the app has read since ``tell`` was last called.
    var read = 0
    /// A closure that tells the transport how many bytes the app has read.
    var tell: (@Sendable (Int) -> Void)?
  }

  /// The number of read bytes after which ``State/tell`` is called.
  ///
  /// It is not called after each message, because one call costs as much as a message.
  private static let batch = 32 * 1024

  private let state = Locked(State())

  // MARK: The transport's side

  /// Sets a closure that gets the number of read bytes; it is called on the reader's thread.
  func whenRead(_ tell: @escaping @Sendable (Int) -> Void) {
    state.withLock { $0.tell = tell }
  }

  /// Adds messages; drops them if the call has ended.
  func put(_ frames: [MessageFrame]) {
    if frames.isEmpty { return }
    let readers = state.withLock { state in
      if state.end == nil { state.arrived += frames }
      return Self.takeReaders(&state)
    }
    for reader in readers { reader.resume() }
  }

  /// Records that no more messages will arrive.
  ///
  /// If `end` is an error that does not come from the server, unread messages are dropped. After an
  /// error from the server, they can still be read.
  func finish(_ end: Result<Void, RPCCallError>) {
    let readers = state.withLock { state in
      if state.end == nil { state.end = end }
      state.tell = nil
      if case .failure(let error) = end, !error.isFromServer {
        (state.frames, state.arrived) = ([], [])
      }
      return Self.takeReaders(&state)
    }
    for reader in readers { reader.resume() }
  }

  // MARK: The reader's side

  /// Waits for the next message or the end; returns `nil` if the waiting task is cancelled.
  func next() async -> Result<MessageFrame?, RPCCallError>? {
    while true {
      let (answer, read, tell) = state.withLock { Self.take(&$0) }
      if read > 0 { tell?(read) }
      if let answer { return answer }
      if Task.isCancelled { return nil }
      await wait()
    }
  }

  private static func take(
    _ state: inout State
  ) -> (Result<MessageFrame?, RPCCallError>?, read: Int, tell: (@Sendable (Int) -> Void)?) {
    if state.frames.isEmpty {
      // Each message is moved only once, even if many are unread.
      state.frames = state.arrived.reversed()
      state.arrived = []
    }
    guard let frame = state.frames.popLast() else {
      return (state.end.map { $0.map { nil } }, 0, nil)
    }
    state.read += frame.wireLength
    guard state.read >= batch else { return (.success(frame), 0, nil) }
    defer { state.read = 0 }
    return (.success(frame), state.read, state.tell)
  }

  private func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          if !state.frames.isEmpty || !state.arrived.isEmpty || state.end != nil || Task.isCancelled
          {
            return true
          }
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
