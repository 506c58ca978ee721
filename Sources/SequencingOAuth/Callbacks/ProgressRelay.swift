import Basics
import LoopbackHTTP

/// Takes what a transfer says of its progress to the app's closure, which is called where it belongs.
///
/// The transport speaks on a thread that serves every connection of the process, so it never waits
/// here. A statement waits until the closure has returned from the one before, and a newer one takes
/// its place: a busy screen gets fewer statements, always in order. No call begins after
/// ``end(isComplete:)`` has returned.
package final class ProgressRelay<Progress: Sendable>: Sendable {
  private struct State {
    /// The newest statement, until its turn.
    var next: Progress?
    /// Calls the closure as long as there is something to say.
    var delivery: Task<Void, Never>?
    var isCalling = false
    /// No statement is taken any more.
    var isClosed = false
    /// What waits is not said any more either.
    var isDropped = false
  }

  private let closure: Completion<Progress>
  private let callbacks: Callbacks
  private let state = Locked(State())

  package init(
    _ closure: @escaping @isolated(any) (Progress) -> Void, _ callbacks: Callbacks
  ) {
    self.closure = Completion(closure)
    self.callbacks = callbacks
  }

  init(_ closure: Completion<Progress>, _ callbacks: Callbacks) {
    self.closure = closure
    self.callbacks = callbacks
  }

  /// Says how far the transfer is; any thread may call it, and it returns at once.
  package func report(_ progress: Progress) {
    state.withLock { state in
      guard !state.isClosed else { return }
      state.next = progress
      if state.delivery == nil { state.delivery = Task { await self.deliver() } }
    }
  }

  /// Ends the reports; returns when no call is under way and none will come.
  ///
  /// The last statement of a transfer that is complete is delivered first. A transfer that has failed
  /// drops it, and waits for nothing but a call that has begun.
  package func end(isComplete: Bool) async {
    let delivery = state.withLock { state in
      state.isClosed = true
      if !isComplete {
        state.next = nil
        state.isDropped = true
      }
      return isComplete || state.isCalling ? state.delivery : nil
    }
    await delivery?.value
  }

  private func deliver() async {
    while let progress = next() {
      await callbacks.call(closure, with: progress) { self.beginCall() }
    }
  }

  private func next() -> Progress? {
    state.withLock { state in
      state.isCalling = false
      defer { state.next = nil }
      if state.next == nil { state.delivery = nil }
      return state.next
    }
  }

  /// Whether the closure may be called; asked where it is called.
  private func beginCall() -> Bool {
    state.withLock { state in
      state.isCalling = !state.isDropped
      return state.isCalling
    }
  }
}

extension ProgressRelay {
  /// Runs a transfer whose progress goes to this relay, and ends the relay with it.
  func run<Value, Failure>(
    _ transfer: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let value: Value
    do throws(Failure) {
      value = try await transfer()
    } catch {
      await end(isComplete: false)
      throw error
    }
    await end(isComplete: true)
    return value
  }
}

extension Optional {
  /// Runs a transfer, whose progress goes to the relay if there is one.
  func run<Progress, Value, Failure>(
    _ transfer: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value where Wrapped == ProgressRelay<Progress> {
    if let self { try await self.run(transfer) } else { try await transfer() }
  }
}
