import CSQSockets
import SQBasics
import SQLibC
import Synchronization

/// The process's only handler of the signals that ask a program to end.
///
/// The handler stores the signal's number and wakes the thread of the shared event loop. Nothing
/// depends on a dispatch queue or on the threads of Swift's tasks, so the program gets the signal
/// even if all of these are busy.
final class SignalListener: EventHandler {
  /// A function that gets the signal's number, and a closure to call when its work is done.
  ///
  /// The closure gets `true` if the signal must then end the program.
  typealias Handler = @Sendable (Int32, _ isDone: @escaping @Sendable (Bool) -> Void) -> Void

  private struct State {
    var handlers: [Int: Handler] = [:]
    var lastID = 0
    /// Whether the event loop calls the listener.
    var isHearing = false
    /// Whether the signals call the handler of this class and have not their usual effect.
    var isInstalled = false
  }

  static let shared = SignalListener()
  /// The values that the signal handler needs; they are atomic because it may interrupt any code.
  private static let wakeUpDescriptor = Atomic<Int32>(-1)
  private static let arrived = Atomic<Int32>(0)
  private static let hearsHangUp = Atomic(false)
  private let state = Locked(State())

  /// The time of the signal that was handled, in nanoseconds; 0 if no signal was handled.
  private static let heardAt = Atomic<UInt64>(0)
  /// The time within which several signals count as one, in nanoseconds.
  ///
  /// The command `timeout` sends its signal to the program and to the program's group. A terminal
  /// that closes may send two signals. A wrapper may forward a signal that its whole group has
  /// already received.
  static let moment: UInt64 = 500_000_000

  /// Registers a function that the next signal calls once, on a new thread, with its number.
  ///
  /// A second signal, at least ``moment`` later, ends the program. If the system cannot provide the
  /// event loop, the signals keep their usual effect.
  func add(_ handler: @escaping Handler) -> Int {
    state.withLock { state in
      state.lastID += 1
      if !state.isHearing { state.isHearing = startHearing() }
      guard state.isHearing else { return state.lastID }
      state.handlers[state.lastID] = handler
      state.isInstalled = true
      Self.install()
      return state.lastID
    }
  }

  /// Removes a function; if no function is left, the signals end the program again.
  ///
  /// That includes a signal that has arrived, but that the event loop has not heard yet.
  func remove(_ id: Int) {
    // The function may hold the last reference to an object of the app that removes another
    // function in its deinit.
    state.change { state in
      guard state.handlers.removeValue(forKey: id) != nil, state.handlers.isEmpty else { return }
      state.isInstalled = false
      Self.uninstall()
    }
  }

  // MARK: The event loop

  private func startHearing() -> Bool {
    guard let loop = EventLoop.shared else { return false }
    Self.wakeUpDescriptor.store(loop.callAfterWakeUps(self), ordering: .releasing)
    return true
  }

  func isCalled() {
    let number = Self.arrived.exchange(0, ordering: .acquiring)
    if number != 0 { hear(number) }
  }

  /// Gives the signals their usual effect back, because nothing wakes the listener any more.
  func loopHasFailed() {
    state.withLock { state in
      state.isHearing = false
      guard !state.handlers.isEmpty else { return }
      state.isInstalled = false
      Self.uninstall()
    }
    // The loop no longer tells of a signal that has arrived before.
    isCalled()
  }

  private func hear(_ number: Int32) {
    let (handlers, isInstalled) = state.withLock { state in
      defer { state.handlers = [:] }
      return (state.handlers.values.map(\.self), state.isInstalled)
    }
    // The last function was removed after the signal arrived. If the handler is still installed,
    // the functions have already got an earlier signal of the same moment.
    if handlers.isEmpty, !isInstalled { Self.end(by: number) }
    let isDone = Self.countdown(handlers.count, to: number)
    for handler in handlers {
      // The new thread inherits the event loop's signal mask, which blocks the signals.
      let hasStarted = Threads.start {
        sq_unblock_signals()
        handler(number, isDone)
      }
      if !hasStarted { handler(number, isDone) }
    }
  }

  /// Returns a closure that ends the program when all handlers of a signal have called it, and at
  /// least one of them with `true`.
  private static func countdown(
    _ handlers: Int, to number: Int32
  ) -> @Sendable (Bool) -> Void {
    let state = Locked((left: handlers, ends: false))
    return { ends in
      let isEnd = state.withLock { state in
        state.left -= 1
        state.ends = state.ends || ends
        return state.left == 0 && state.ends
      }
      if isEnd { end(by: number) }
    }
  }

  // MARK: The signals

  private static func install() {
    // Of the signals that were ignored, only SIGHUP stays ignored: shell scripts make every
    // background program ignore SIGINT.
    let hearsHangUp = hearsHangUp.load(ordering: .acquiring) || sq_is_ignored(SIGHUP) == 0
    Self.hearsHangUp.store(hearsHangUp, ordering: .releasing)
    heardAt.store(0, ordering: .releasing)
    signal(SIGINT, handle)
    signal(SIGTERM, handle)
    if hearsHangUp { signal(SIGHUP, handle) }
  }

  private static func uninstall() {
    signal(SIGINT, SIG_DFL)
    signal(SIGTERM, SIG_DFL)
    if hearsHangUp.load(ordering: .acquiring) { signal(SIGHUP, SIG_DFL) }
  }

  /// Ends the program by the signal itself, so that a shell sees the signal's number.
  static func end(by number: Int32) {
    signal(number, SIG_DFL)
    kill(getpid(), number)
    // Linux discards a signal without a handler for process 1, which a container's program may be.
    if getpid() == 1 { _exit(128 + number) }
  }

  private static let handle: @convention(c) (Int32) -> Void = { number in
    let error = errno
    let now = SignalListener.now
    let (isFirst, heardAt) = SignalListener.heardAt.compareExchange(
      expected: 0, desired: now, ordering: .acquiringAndReleasing)
    if isFirst {
      SignalListener.arrived.store(number, ordering: .releasing)
      let descriptor = SignalListener.wakeUpDescriptor.load(ordering: .acquiring)
      if !EventLoop.wakeUp(descriptor) {
        // No thread can hear the signal, so it has its usual effect.
        SignalListener.uninstall()
        SignalListener.end(by: number)
      }
    } else if SignalListener.isAnother(at: now, after: heardAt) {
      // The signal is pending until the handler returns, and then ends the program.
      SignalListener.uninstall()
      SignalListener.end(by: number)
    }
    errno = error
  }

  /// Returns whether enough time passed after the handled signal for a new one to count.
  static func isAnother(at now: UInt64, after heardAt: UInt64) -> Bool {
    now > heardAt && now - heardAt >= moment
  }

  /// The monotonic time in nanoseconds, never 0; it is safe to use in a signal handler.
  private static var now: UInt64 { max(1, sq_monotonic_nanoseconds()) }
}
