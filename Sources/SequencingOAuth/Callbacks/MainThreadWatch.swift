import CSQSockets
import Dispatch
import SQBasics
import SQLibC

/// A watch that warns once, on standard error, if callbacks wait for a blocked main thread.
///
/// If the main thread waits in `readLine()` or for a semaphore, no callback on the main queue runs,
/// and a sign-in seems never to end.
final class MainThreadWatch: Sendable {
  /// A function that calls `look` after a delay; a callback that waits for the whole delay causes
  /// the warning.
  typealias Timer = @Sendable (_ look: @escaping @Sendable () -> Void) -> Void

  private struct State {
    var timer: Timer = { look in
      DispatchQueue.global(qos: .utility).asyncAfter(
        deadline: .now() + adviceDelay, execute: look)
    }
    var waits: Set<UInt64> = []
    var lastWait: UInt64 = 0
    var isArmed = false
    var hasSpoken = false
  }

  static let shared = MainThreadWatch()
  private static let adviceDelay = DispatchTimeInterval.seconds(5)
  private let state = Locked(State())

  /// The number of callbacks that wait for the main thread.
  var waiting: Int { state.withLock(\.waits.count) }

  /// Sets the timer, for tests that must not wait.
  func setTimer(_ timer: @escaping Timer) {
    state.withLock { $0.timer = timer }
  }

  /// Records that a callback waits for the main thread, and returns that wait's number.
  func begin() -> UInt64 {
    let (wait, arms) = state.withLock { state in
      state.lastWait += 1
      state.waits.insert(state.lastWait)
      let arms = !state.isArmed && !state.hasSpoken
      if arms { state.isArmed = true }
      return (state.lastWait, arms)
    }
    if arms { arm() }
    return wait
  }

  /// Records that the callback no longer waits.
  func end(_ wait: UInt64) {
    state.withLock { _ = $0.waits.remove(wait) }
  }

  private func arm() {
    let (newest, timer) = state.withLock { ($0.lastWait, $0.timer) }
    timer { self.look(upTo: newest) }
  }

  /// Warns if a callback has waited since the timer was started; otherwise restarts the timer for
  /// the callbacks that wait now.
  private func look(upTo newest: UInt64) {
    let (isBlocked, isWaiting) = state.withLock { state in
      let isBlocked = state.waits.contains { $0 <= newest }
      state.hasSpoken = isBlocked
      state.isArmed = !isBlocked && !state.waits.isEmpty
      return (isBlocked, state.isArmed)
    }
    if isBlocked {
      Self.speak()
    } else if isWaiting {
      arm()
    }
  }

  private static func speak() {
    var text =
      "SequencingOAuth: a callback has waited 5 s for the blocked main thread. Let the main "
      + "thread run (dispatchMain(), RunLoop.main.run() or an async main), or set callbackQueue to a "
      + "queue of your own.\n"
    text.withUTF8 { _ = sq_write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
