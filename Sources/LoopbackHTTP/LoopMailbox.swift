import Basics

/// What other threads tell the event loop.
enum LoopMessage: Sendable {
  /// A handler's answer to one exchange of one connection.
  case reply(connection: UInt64, exchange: UInt64, LoopbackReply)
  /// End in an orderly way, then say so; handlers that run get a while to answer.
  case stop(handlerGrace: Duration, @Sendable () -> Void)
  /// Serve all that has arrived, then say so.
  case settle(@Sendable () -> Void)
  /// End at once: nobody holds the server any more.
  case abandon

  fileprivate var isReply: Bool {
    if case .reply = self { true } else { false }
  }
}

/// Carries messages to the event loop, and wakes it only when it sleeps.
final class LoopMailbox: Sendable {
  private struct State {
    var messages: [LoopMessage] = []
    var isAsleep = false
    var isClosed = false
  }

  private let state = Locked(State())
  /// Readable when there is something to do; the loop polls it.
  let readEnd: Int32
  private let writeEnd: Int32

  init() throws(LoopbackError) {
    (readEnd, writeEnd) = try Sockets.pair()
  }

  deinit {
    Sockets.close(readEnd)
    Sockets.close(writeEnd)
  }

  /// Leaves a message; `false` when the loop has ended and nobody will read it.
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

  /// What has come, or `nil`: then the loop counts as asleep, and the next message wakes it.
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

  /// The answers of handlers that have come; what else has come stays.
  func takeReplies() -> [LoopMessage] {
    state.withLock { state in
      let replies = state.messages.filter(\.isReply)
      state.messages.removeAll(where: \.isReply)
      return replies
    }
  }

  /// The loop is up again, for whatever reason: messages need no wake-up call.
  func wokeUp() {
    state.withLock { $0.isAsleep = false }
  }

  /// Empties the socket after ``readEnd`` was readable.
  func drain() {
    var bytes: (UInt64, UInt64) = (0, 0)
    while withUnsafeMutableBytes(of: &bytes, { Sockets.receive(readEnd, into: $0) }) > 0 {}
  }

  /// Refuses further messages and returns those that nobody has read.
  func close() -> [LoopMessage] {
    state.withLock { state in
      state.isClosed = true
      defer { state.messages = [] }
      return state.messages
    }
  }
}
