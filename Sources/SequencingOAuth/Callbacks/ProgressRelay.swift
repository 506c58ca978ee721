import SQBasics
import SQLoopback

/// A relay that passes reports about a transfer's progress to the app's closure, on the closure's
/// actor or queue.
///
/// The transport reports on a thread that serves every connection of the process, so ``report(_:)``
/// never waits. A report is kept until the closure has returned from its previous call, and a newer
/// report replaces a kept one. So a slow closure gets fewer reports, always in order. After
/// ``end(isComplete:)`` has returned, the closure is not called again.
package final class ProgressRelay<Progress: Sendable>: Sendable {
  private struct State {
    /// The newest report that waits for the closure.
    var next: Progress?
    /// The task that calls the closure as long as there are reports.
    var delivery: Task<Void, Never>?
    var isCalling = false
    /// Whether further reports are ignored.
    var isClosed = false
    /// Whether waiting reports are dropped.
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

  /// Reports the progress of the transfer.
  ///
  /// Any thread may call it; it returns at once.
  package func report(_ progress: Progress) {
    state.withLock { state in
      guard !state.isClosed else { return }
      state.next = progress
      if state.delivery == nil { state.delivery = Task { await self.deliver() } }
    }
  }

  /// Ends the reports, and returns when no call of the closure is under way and none will follow.
  ///
  /// If the transfer is complete, its last report is delivered first. If the transfer has failed,
  /// waiting reports are dropped, and this waits only for a call that has begun.
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

  /// Records that a call of the closure begins; returns `false` if the closure must not be called
  /// any more.
  private func beginCall() -> Bool {
    state.withLock { state in
      state.isCalling = !state.isDropped
      return state.isCalling
    }
  }
}

extension ProgressRelay {
  /// Runs a transfer that reports its progress to this relay, then ends the reports.
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
  /// Runs a transfer, and ends the reports of the relay if there is one.
  package func run<Progress, Value, Failure>(
    _ transfer: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value where Wrapped == ProgressRelay<Progress> {
    if let self { try await self.run(transfer) } else { try await transfer() }
  }
}
