import SQBasics

/// A message from another thread to a server's event loop.
enum LoopMessage: Sendable {
  /// A handler's answer to one exchange of one connection.
  case reply(Connection.ID, exchange: UInt64, LoopbackReply)
  /// Close the listener and the connections, then call the closure.
  ///
  /// Handlers may still answer within `handlerGrace`.
  case stop(handlerGrace: Duration, @Sendable () -> Void)
  /// Serve everything that has arrived, then call the closure.
  case settle(@Sendable () -> Void)
  /// Stop at once, because the server object was released.
  case abandon

  fileprivate var isReply: Bool {
    if case .reply = self { true } else { false }
  }
}

/// A queue of messages for the connections of one server.
final class LoopMailbox: Sendable {
  private struct State {
    var messages: [LoopMessage] = []
    /// The object that takes the messages; `nil` after it has closed the mailbox.
    var reader: (any EventHandler)?
    /// Whether the loop was asked to call the reader, and has not called it yet.
    var isAnnounced = false
  }

  let loop: EventLoop
  private let state = Locked(State())

  init(_ loop: EventLoop) {
    self.loop = loop
  }

  /// Sets the object that the loop calls when messages have arrived.
  func open(for reader: any EventHandler) {
    state.withLock { $0.reader = reader }
  }

  /// Adds a message; returns `false` if nothing will read it.
  @discardableResult
  func post(_ message: LoopMessage) -> Bool {
    let (isOpen, reader) = state.withLock { state -> (Bool, (any EventHandler)?) in
      guard let reader = state.reader else { return (false, nil) }
      state.messages.append(message)
      defer { state.isAnnounced = true }
      return (true, state.isAnnounced ? nil : reader)
    }
    if let reader { loop.callSoon(reader) }
    return isOpen
  }

  /// Removes and returns all messages, because the loop has called the reader.
  func take() -> [LoopMessage] {
    state.withLock { state in
      state.isAnnounced = false
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

  /// Rejects further messages and returns the unread ones.
  func close() -> [LoopMessage] {
    state.withLock { state in
      state.reader = nil
      defer { state.messages = [] }
      return state.messages
    }
  }
}
