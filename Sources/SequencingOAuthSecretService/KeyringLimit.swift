import CSQSecret
import Dispatch
import SQBasics

/// A time limit that ends slow or cancelled calls to the keyring.
///
/// First, it cancels the calls. If the keyring does not react, the limit closes the connection,
/// because libsecret would otherwise wait forever. A call that may show a prompt, or that connects
/// to the bus, does not react to a cancellation, so a closure, the alarm, ends it at once. A
/// request to unlock is not ended: it outlives its call.
final class KeyringLimit {
  /// The time after which the app is notified that a call waits.
  private static let quiet = Duration.seconds(3)
  /// The time limit for opening a session; opening never asks the user.
  private static let opening = Duration.seconds(10)

  let library: KeyringLibrary
  let cancellable: UnsafeMutablePointer<GCancellable>?
  private let duration: Duration
  /// The time limit of the current calls; it is shorter while a session is opened.
  private var present: Duration
  private let start = DispatchTime.now()
  private let end: KeyringEnd
  private let timer: any DispatchSourceTimer
  private var notice: (any DispatchSourceTimer)?

  /// Starts the time limit.
  ///
  /// `whenWaiting` is called if the calls have not ended after 3 s or half of the limit, whichever
  /// is shorter. The interruption ends the calls earlier.
  init(
    _ duration: Duration, _ library: KeyringLibrary, whenWaiting: (@Sendable () -> Void)? = nil,
    interruption: Interruption? = nil
  ) {
    self.library = library
    self.duration = duration
    present = duration
    cancellable = library.c.g_cancellable_new()
    let end = KeyringEnd(cancellable, library)
    self.end = end
    timer = Self.timer { end.end(.time) }
    timer.schedule(deadline: start + duration)
    timer.activate()
    if let whenWaiting {
      let notice = Self.timer(whenWaiting)
      notice.schedule(deadline: start + min(Self.quiet, duration / 2))
      notice.activate()
      self.notice = notice
    }
    interruption?.whenRaised { end.end(.interruption) }
  }

  deinit {
    timer.cancel()
    notice?.cancel()
    end.govern(nil)
    library.c.g_object_unref(cancellable)
  }

  /// Whether the time limit or an interruption has ended the calls.
  var isOver: Bool { end.reason != nil }

  /// The reason why the calls were ended; `nil` if they were not ended.
  var failure: KeyringFailure? {
    switch end.reason {
    case .time: .tooLong(seconds)
    case .interruption: .cancelled
    case nil: nil
    }
  }

  /// The current limit in whole seconds, at least 1, for a message.
  var seconds: Int { max(1, Int(present.components.seconds)) }

  /// Runs a body that opens a session, for at most ten seconds.
  func opening<Value>(
    _ body: () throws(KeyringFailure) -> Value
  ) throws(KeyringFailure) -> Value {
    present = min(duration, Self.opening)
    timer.schedule(deadline: min(start + duration, DispatchTime.now() + present))
    defer {
      end.govern(nil)
      present = duration
      timer.schedule(deadline: start + duration)
    }
    return try body()
  }

  /// Closes a connection if its calls do not end within 2 s after their cancellation.
  func govern(_ connection: KeyringConnection) { end.govern { connection.close() } }

  /// Runs a body, and calls a closure on any thread if the time limit or an interruption ends it.
  func waiting<Value, Failure>(
    _ alarm: @escaping @Sendable () -> Void, _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    end.setAlarm(alarm)
    defer { end.setAlarm(nil) }
    return try body()
  }

  private static func timer(
    _ action: @escaping @Sendable () -> Void
  ) -> any DispatchSourceTimer {
    // Do not use the store's own queue, because the call blocks that queue.
    let timer = DispatchSource.makeTimerSource(queue: .global())
    timer.setEventHandler(handler: action)
    return timer
  }
}

/// A switch that ends calls to the keyring, from any thread.
private final class KeyringEnd: @unchecked Sendable {
  enum Reason { case time, interruption }

  /// The time that a cancelled call has to end before the connection is closed.
  private static let grace = Duration.seconds(2)

  private struct State {
    var reason: Reason?
    /// A closure that ends calls that do not react to their cancellation.
    var cut: (@Sendable () -> Void)?
    /// A closure that is called together with the cancellation.
    var alarm: (@Sendable () -> Void)?
  }

  private let library: KeyringLibrary
  // GLib lets any thread cancel.
  private let cancellable: UnsafeMutableRawPointer?
  private let state = Locked(State())

  init(_ cancellable: UnsafeMutablePointer<GCancellable>?, _ library: KeyringLibrary) {
    self.library = library
    self.cancellable = library.c.g_object_ref(cancellable)
  }

  deinit { library.c.g_object_unref(cancellable) }

  var reason: Reason? { state.withLock(\.reason) }

  /// Cancels the calls, and closes their connection if they have not ended after ``grace``.
  func end(_ reason: Reason) {
    let (isFirst, alarm) = state.withLock { state in
      defer { state.reason = state.reason ?? reason }
      return (state.reason == nil, state.alarm)
    }
    guard isFirst else { return }
    library.c.g_cancellable_cancel(cancellable?.assumingMemoryBound(to: GCancellable.self))
    alarm?()
    DispatchQueue.global().asyncAfter(deadline: DispatchTime.now() + Self.grace) { [self] in
      state.withLock(\.cut)?()
    }
  }

  /// Sets the action that ends calls that ignore their cancellation; `nil` when they have ended.
  func govern(_ cut: (@Sendable () -> Void)?) { state.withLock { $0.cut = cut } }

  /// Sets the closure to call when the calls are cancelled; calls it at once if they already were.
  func setAlarm(_ alarm: (@Sendable () -> Void)?) {
    let isOver = state.withLock { state in
      state.alarm = alarm
      return state.reason != nil
    }
    if isOver { alarm?() }
  }
}

extension DispatchTime {
  fileprivate static func + (time: Self, duration: Duration) -> Self {
    let (seconds, attoseconds) = duration.components
    return time + DispatchTimeInterval.seconds(Int(seconds))
      + DispatchTimeInterval.nanoseconds(Int(attoseconds / 1_000_000_000))
  }
}
