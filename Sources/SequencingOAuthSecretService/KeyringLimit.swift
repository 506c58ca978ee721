import CSecret
import Dispatch

/// Ends calls to the keyring that take too long, for example while a prompt waits for the user.
///
/// First it cancels the calls, which removes a prompt from the screen. If the keyring does not
/// react to that either, libsecret would wait forever, so the connection is then closed.
final class KeyringLimit {
  /// How long a cancelled call has to end by itself.
  private static let grace = Duration.seconds(2)
  /// How long a call takes before the app learns that it waits.
  private static let quiet = Duration.seconds(3)

  let library: KeyringLibrary
  let duration: Duration
  let cancellable: UnsafeMutablePointer<GCancellable>?
  private var timers: [any DispatchSourceTimer] = []

  /// Starts the time.
  ///
  /// `whenWaiting` is called if the calls have not ended after 3 s, or after half of a shorter limit.
  init(
    _ duration: Duration, _ library: KeyringLibrary, whenWaiting: (@Sendable () -> Void)? = nil
  ) {
    self.library = library
    self.duration = duration
    cancellable = library.c.g_cancellable_new()
    let shared = Shared(cancellable: library.c.g_object_ref(cancellable))
    after(duration) {
      library.c.g_cancellable_cancel(
        shared.cancellable?.assumingMemoryBound(to: GCancellable.self))
    } end: {
      library.c.g_object_unref(shared.cancellable)
    }
    if let whenWaiting { after(min(Self.quiet, duration / 2), whenWaiting) }
  }

  deinit {
    for timer in timers { timer.cancel() }
    library.c.g_object_unref(cancellable)
  }

  /// Whether the time is over.
  var isOver: Bool { library.c.g_cancellable_is_cancelled(cancellable) != 0 }

  /// The limit in whole seconds for a message, at least 1.
  var seconds: Int { max(1, Int(duration.components.seconds)) }

  /// Closes a connection if its calls have not ended 2 s after they were cancelled.
  func govern(_ connection: KeyringConnection) {
    after(duration + Self.grace) { connection.close() }
  }

  private func after(
    _ delay: Duration, _ action: @escaping @Sendable () -> Void,
    end: @escaping @Sendable () -> Void = {}
  ) {
    // Not on the store's own queue, which waits for the call.
    let timer = DispatchSource.makeTimerSource(queue: .global())
    timer.setEventHandler(handler: action)
    timer.setCancelHandler(handler: end)
    let (seconds, attoseconds) = delay.components
    timer.schedule(
      deadline: .now() + .seconds(Int(seconds)) + .nanoseconds(Int(attoseconds / 1_000_000_000)))
    timer.activate()
    timers.append(timer)
  }

  /// Carries the cancellable object to the timer's thread; GLib lets any thread cancel.
  private struct Shared: @unchecked Sendable {
    let cancellable: UnsafeMutableRawPointer?
  }
}
