import SQBasics
import SQFoundation

/// A queue of messages that the app has sent but the transport has not taken yet.
///
/// The sender waits until the transport has taken its message. The transport in turn waits until
/// the server has read enough of the earlier messages.
final class MessageOutbox: Sendable {
  private struct Item {
    let id: Int
    let bytes: Data
    /// The waiting sender.
    let sender: CheckedContinuation<Outcome, Never>
  }

  private struct State {
    var items: [Item] = []
    var lastID = 0
    /// The number of bytes that the transport has taken from the first message.
    var taken = 0
    /// Whether the app has finished sending, so that no further message is accepted.
    var isFinished = false
    /// Whether the call has ended or its answer has come, so that the transport takes no further
    /// message.
    var isClosed = false
    /// A closure that tells the transport that there are bytes to take.
    var wake: (@Sendable () -> Void)?
  }

  private let state = Locked(State())

  // MARK: The caller's side

  /// The result of sending a message.
  enum Outcome {
    case taken
    /// The app had already finished sending.
    case finished
    /// The call had ended, or its answer had arrived.
    case closed
    /// The sender was cancelled before the transport took any of the message.
    case withdrawn
  }

  /// Waits until the transport has taken a message.
  ///
  /// If the sender is cancelled, its message is withdrawn. If the transport has taken a part of the
  /// message, `end` is called instead: it must end the call, because the rest cannot be left out.
  func send(_ bytes: Data, orEnd end: @escaping @Sendable () -> Void) async -> Outcome {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { put(Item(id: id, bytes: bytes, sender: $0)) }
    } onCancel: {
      if !withdraw(id) { end() }
    }
  }

  private func put(_ item: Item) {
    let (refusal, wake) = state.withLock { state -> (Outcome?, (@Sendable () -> Void)?) in
      if Task.isCancelled { return (.withdrawn, nil) }
      if state.isFinished { return (.finished, nil) }
      if state.isClosed { return (.closed, nil) }
      state.items.append(item)
      return (nil, state.wake)
    }
    if let refusal { item.sender.resume(returning: refusal) }
    wake?()
  }

  /// Removes a message if it still waits; returns `false` if the transport has taken a part of it.
  private func withdraw(_ id: Int) -> Bool {
    let (item, isBegun) = state.withLock { state -> (Item?, Bool) in
      guard let index = state.items.firstIndex(where: { $0.id == id }) else { return (nil, false) }
      if index == 0, state.taken > 0 { return (nil, true) }
      return (state.items.remove(at: index), false)
    }
    item?.sender.resume(returning: .withdrawn)
    return !isBegun
  }

  /// Ends the request after the messages in the queue.
  func finish() {
    let wake = state.withLock { state in
      state.isFinished = true
      return state.wake
    }
    wake?()
  }

  // MARK: The transport's side

  /// Sets the closure that is called on the sender's thread when there are more bytes to take.
  func whenFilled(_ wake: @escaping @Sendable () -> Void) {
    state.withLock { $0.wake = wake }
  }

  /// The result of taking bytes.
  enum Piece {
    case bytes(Int)
    case wait
    case end
  }

  /// Copies the next bytes to send into a buffer.
  func take(into buffer: UnsafeMutableRawBufferPointer) -> Piece {
    let (piece, senders) = state.withLock { state in Self.take(&state, into: buffer) }
    for sender in senders { sender.resume(returning: .taken) }
    return piece
  }

  private static func take(
    _ state: inout State, into buffer: UnsafeMutableRawBufferPointer
  ) -> (Piece, [CheckedContinuation<Outcome, Never>]) {
    var count = 0
    var senders: [CheckedContinuation<Outcome, Never>] = []
    while let item = state.items.first, count < buffer.count {
      let rest = item.bytes.dropFirst(state.taken).prefix(buffer.count - count)
      rest.copyBytes(to: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
      count += rest.count
      state.taken += rest.count
      guard state.taken == item.bytes.count else { break }
      state.items.removeFirst()
      state.taken = 0
      senders.append(item.sender)
    }
    if count > 0 { return (.bytes(count), senders) }
    // To the server, the end of the request means that all messages have come. A call that ends
    // early is reset instead.
    return (state.isFinished && !state.isClosed ? .end : .wait, [])
  }

  /// Closes the queue because the call has ended or its answer has come; waiting senders fail.
  func close() {
    let items = state.withLock { state in
      state.isClosed = true
      state.wake = nil
      state.taken = 0
      defer { state.items = [] }
      return state.items
    }
    for item in items { item.sender.resume(returning: .closed) }
  }
}
