import SQBasics

/// A message from another thread to the event loop.
enum LoopMessage: Sendable {
  /// A handler's answer to one exchange of one connection.
  case reply(connection: UInt64, exchange: UInt64, LoopbackReply)
  /// Close the connections in order, then call the closure; handlers have this long to answer.
  case stop(handlerGrace: Duration, @Sendable () -> Void)
  /// Serve everything that has arrived, then call the closure.
  case settle(@Sendable () -> Void)
  /// Stop at once, because the server object was released.
  case abandon

  fileprivate var isReply: Bool {
    if case .reply = self { true } else { false }
  }
}

/// A queue of messages to the event loop, which wakes the loop only if it sleeps.
final class LoopMailbox: Sendable {
  private struct State {
    var messages: [LoopMessage] = []
    var isAsleep = false
    var isClosed = false
  }

  private let state = Locked(State())
  /// The socket that the loop polls; it becomes readable when a message wakes the loop.
  let readEnd: Int32
  private let writeEnd: Int32

  init() throws(LoopbackError) {
    (readEnd, writeEnd) = try Sockets.pair()
  }

  deinit {
    Sockets.close(readEnd)
    Sockets.close(writeEnd)
  }

  /// Adds a message; returns `false` if the loop has ended and will not read it.
  @discardableResult
  func post(_ message: LoopMessage) -> Bool {
    let (isOpen, mustWake) = state.withLock { state in
      guard !state.isClosed else { return (false, false) }
      state.messages.append(message)
      defer { state.isAsleep = false }
      return (true, state.isAsleep)
    }
    if mustWake {
      let byte: UInt8 = 1
      _ = withUnsafeBytes(of: byte) { Sockets.send(writeEnd, $0) }
    }
    return isOpen
  }

  /// Removes and returns all messages; if there are none, returns `nil` and marks the loop asleep.
  ///
  /// The next message then wakes the loop.
  func takeOrSleep() -> [LoopMessage]? {
    state.withLock { state in
      guard !state.messages.isEmpty else {
        state.isAsleep = true
        return nil
      }
      defer { state.messages = [] }
      return state.messages
    }
  }

  /// Removes and returns the handlers' answers; other messages stay.
  func takeReplies() -> [LoopMessage] {
    state.withLock { state in
      let replies = state.messages.filter(\.isReply)
      state.messages.removeAll(where: \.isReply)
      return replies
    }
  }

  /// Marks the loop awake, so that messages need not wake it.
  func wokeUp() {
    state.withLock { $0.isAsleep = false }
  }

  /// Reads all wake-up bytes from ``readEnd``.
  func drain() {
    var bytes: (UInt64, UInt64) = (0, 0)
    while withUnsafeMutableBytes(of: &bytes, { Sockets.receive(readEnd, into: $0) }) > 0 {}
  }

  /// Rejects further messages and returns the unread ones.
  func close() -> [LoopMessage] {
    state.withLock { state in
      state.isClosed = true
      defer { state.messages = [] }
      return state.messages
    }
  }
}
