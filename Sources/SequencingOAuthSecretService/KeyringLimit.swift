import CSQSecret
import Dispatch
import SQBasics

/// Ends calls to the keyring that take too long, for example while a prompt waits for the user, or
/// that the app no longer wants.
///
/// First it cancels the calls, which removes a prompt from the screen. If the keyring does not
/// react to that either, libsecret would wait forever, so the connection is then closed.
final class KeyringLimit {
  /// How long a cancelled call has to end by itself.
  private static let grace = Duration.seconds(2)
  /// How long a call takes before the app learns that it waits.
  private static let quiet = Duration.seconds(3)
  /// How long the bus and the keyring may take to open a session, which asks the user nothing.
  private static let opening = Duration.seconds(10)

  let library: KeyringLibrary
  let cancellable: UnsafeMutablePointer<GCancellable>?
  private let duration: Duration
  /// The time that the present calls have, which is shorter while a session is opened.
  private var present: Duration
  private let start = DispatchTime.now()
  private let end: KeyringEnd
  private let timer: any DispatchSourceTimer
  private var notice: (any DispatchSourceTimer)?

  /// Starts the time.
  ///
  /// `whenWaiting` is called if the calls have not ended after 3 s, or after half of a shorter limit.
  /// The interruption ends the calls earlier.
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
    timer = Self.timer { end.end(.time, grace: Self.grace) }
    timer.schedule(deadline: start + duration)
    timer.activate()
    if let whenWaiting {
      let notice = Self.timer(whenWaiting)
      notice.schedule(deadline: start + min(Self.quiet, duration / 2))
      notice.activate()
      self.notice = notice
    }
    interruption?.whenRaised { end.end(.interruption, grace: Self.grace) }
  }

  deinit {
    timer.cancel()
    notice?.cancel()
    end.govern(nil)
    library.c.g_object_unref(cancellable)
  }

  /// Whether the calls were ended.
  var isOver: Bool { end.reason != nil }

  /// The reason for which the calls were ended; `nil` if they were not.
  var failure: KeyringFailure? {
    switch end.reason {
    case .time: .tooLong(seconds)
    case .interruption: .cancelled
    case nil: nil
    }
  }

  /// The limit in whole seconds for a message, at least 1.
  var seconds: Int { max(1, Int(present.components.seconds)) }

  /// Runs a body that opens a session, in ten seconds at most.
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

  /// Closes a connection if its calls have not ended 2 s after they were cancelled.
  func govern(_ connection: KeyringConnection) { end.govern { connection.close() } }

  /// Ends the connecting to a bus as soon as its time is over.
  func governConnecting(_ cut: @escaping @Sendable () -> Void) {
    end.govern(atOnce: true, cut)
  }

  private static func timer(
    _ action: @escaping @Sendable () -> Void
  ) -> any DispatchSourceTimer {
    // Not on the store's own queue, which waits for the call.
    let timer = DispatchSource.makeTimerSource(queue: .global())
    timer.setEventHandler(handler: action)
    return timer
  }
}

/// The end of calls to the keyring, which any thread may bring about.
private final class KeyringEnd: @unchecked Sendable {
  enum Reason { case time, interruption }

  private struct State {
    var reason: Reason?
    /// What ends calls that do not react to their cancellation.
    var cut: (@Sendable () -> Void)?
    var cutsAtOnce = false
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

  /// Cancels the calls, and cuts them off if they have not ended after the grace.
  func end(_ reason: Reason, grace: Duration) {
    let (isFirst, cut) = state.withLock { state in
      defer { state.reason = state.reason ?? reason }
      return (state.reason == nil, state.cutsAtOnce ? state.cut : nil)
    }
    guard isFirst else { return }
    library.c.g_cancellable_cancel(cancellable?.assumingMemoryBound(to: GCancellable.self))
    cut?()
    DispatchQueue.global().asyncAfter(deadline: DispatchTime.now() + grace) { [self] in
      state.withLock(\.cut)?()
    }
  }

  /// Sets what cuts the present calls off; `nil` when they have ended.
  func govern(atOnce: Bool = false, _ cut: (@Sendable () -> Void)?) {
    let isOver = state.withLock { state in
      (state.cut, state.cutsAtOnce) = (cut, atOnce)
      return state.reason != nil
    }
    if isOver, atOnce { cut?() }
  }
}

extension DispatchTime {
  fileprivate static func + (time: Self, duration: Duration) -> Self {
    let (seconds, attoseconds) = duration.components
    return time + DispatchTimeInterval.seconds(Int(seconds))
      + DispatchTimeInterval.nanoseconds(Int(attoseconds / 1_000_000_000))
  }
}
