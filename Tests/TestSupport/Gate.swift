import LoopbackHTTP

/// Holds tasks until a test lets them go.
public final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Locked(State())

  /// Makes a gate that is shut.
  public init() {}

  /// How many wait.
  public var waiting: Int { state.withLock(\.waiting.count) }

  /// Lets everyone through, now and later.
  public func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Returns when the gate is open, or when the task is cancelled.
  public func opened() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOpen = state.withLock { state in
          if !state.isOpen, !Task.isCancelled { state.waiting.append(continuation) }
          return state.isOpen || Task.isCancelled
        }
        if isOpen { continuation.resume() }
      }
    } onCancel: {
      open()
    }
  }
}
