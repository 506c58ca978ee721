import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The messages that the app has sent and that the transport has not taken yet.
///
/// The sender waits until the transport has taken the message, and so until the server has read
/// enough of the earlier messages.
final class MessageOutbox: Sendable {
  private struct Item {
    let id: Int
    let bytes: Data
    /// The waiting sender; it gets `true` if the transport took the message.
    let sender: CheckedContinuation<Bool, Never>
  }

  private struct State {
    var items: [Item] = []
    var lastID = 0
    /// The sender has announced the end: no further message is accepted.
    var isFinished = false
    /// The call has ended: the transport takes no further message.
    var isClosed = false
    var taker: CheckedContinuation<Data?, Never>?
  }

  private let state = Locked(State())

  // MARK: The caller's side

  /// What happened to a message.
  enum Outcome {
    case taken
    case refused
    /// The sender was cancelled, and the message is withdrawn.
    case withdrawn
  }

  func send(_ bytes: Data) async -> Outcome {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    let isTaken = await withTaskCancellationHandler {
      await withCheckedContinuation { put(Item(id: id, bytes: bytes, sender: $0)) }
    } onCancel: {
      withdraw(id)
    }
    if isTaken { return .taken }
    return Task.isCancelled ? .withdrawn : .refused
  }

  private func put(_ item: Item) {
    let (answer, taker) = state.withLock { state -> (Bool?, CheckedContinuation<Data?, Never>?) in
      if state.isFinished || state.isClosed || Task.isCancelled { return (false, nil) }
      if let taker = state.taker.take() { return (true, taker) }
      state.items.append(item)
      return (nil, nil)
    }
    taker?.resume(returning: item.bytes)
    if let answer { item.sender.resume(returning: answer) }
  }

  private func withdraw(_ id: Int) {
    let item = state.withLock { state -> Item? in
      guard let index = state.items.firstIndex(where: { $0.id == id }) else { return nil }
      return state.items.remove(at: index)
    }
    item?.sender.resume(returning: false)
  }

  /// Ends the request after the waiting messages; returns `false` if it has ended before.
  func finish() -> Bool {
    let (isFirst, taker) = state.withLock { state in
      defer { state.isFinished = true }
      return (!state.isFinished && !state.isClosed, state.taker.take())
    }
    taker?.resume(returning: nil)
    return isFirst
  }

  // MARK: The transport's side

  /// Waits for the next piece of the request's body; returns `nil` at its end.
  func next() async -> Data? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        typealias Sender = CheckedContinuation<Bool, Never>
        let (data, sender) = state.withLock { state -> (Data??, Sender?) in
          if !state.items.isEmpty {
            let item = state.items.removeFirst()
            return (item.bytes, item.sender)
          }
          if state.isFinished || state.isClosed || Task.isCancelled { return (.some(nil), nil) }
          state.taker = continuation
          return (nil, nil)
        }
        sender?.resume(returning: true)
        if let data { continuation.resume(returning: data) }
      }
    } onCancel: {
      state.withLock { $0.taker.take() }?.resume(returning: nil)
    }
  }

  /// Ends the outbox with the call: waiting senders and the transport continue without success.
  func close() {
    let (items, taker) = state.withLock { state in
      state.isClosed = true
      defer { state.items = [] }
      return (state.items, state.taker.take())
    }
    for item in items { item.sender.resume(returning: false) }
    taker?.resume(returning: nil)
  }
}
