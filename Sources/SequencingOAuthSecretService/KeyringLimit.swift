import CSecret
import Dispatch

/// Ends the keyring's calls when they have taken too long, such as a prompt that nobody answers.
///
/// First they are cancelled, which takes a prompt off the screen. Where that too is not answered
/// libsecret would wait for ever, so then the connection is closed.
final class KeyringLimit {
  /// How long a cancelled call has to end by itself.
  private static let grace = Duration.seconds(2)

  let duration: Duration
  let cancellable: UnsafeMutablePointer<GCancellable>
  private var timers: [any DispatchSourceTimer] = []

  /// The time runs from now on.
  init(_ duration: Duration) {
    self.duration = duration
    cancellable = g_cancellable_new()
    let shared = Shared(cancellable: g_object_ref(cancellable))
    after(duration) {
      g_cancellable_cancel(shared.cancellable.assumingMemoryBound(to: GCancellable.self))
    } end: {
      g_object_unref(shared.cancellable)
    }
  }

  deinit {
    for timer in timers { timer.cancel() }
    g_object_unref(cancellable)
  }

  /// Whether the time is over.
  var isOver: Bool { g_cancellable_is_cancelled(cancellable) != 0 }

  /// The time for a message, never nothing.
  var seconds: Int { max(1, Int(duration.components.seconds)) }

  /// Has a connection be closed when its calls do not end.
  func govern(_ connection: KeyringConnection) {
    after(duration + Self.grace) { connection.close() }
  }

  private func after(
    _ delay: Duration, _ action: @escaping @Sendable () -> Void,
    end: @escaping @Sendable () -> Void = {}
  ) {
    // Not the store's own queue: that is what waits.
    let timer = DispatchSource.makeTimerSource(queue: .global())
    timer.setEventHandler(handler: action)
    timer.setCancelHandler(handler: end)
    let (seconds, attoseconds) = delay.components
    timer.schedule(
      deadline: .now() + .seconds(Int(seconds)) + .nanoseconds(Int(attoseconds / 1_000_000_000)))
    timer.activate()
    timers.append(timer)
  }

  /// What the timer's thread gets; GLib lets any thread cancel.
  private struct Shared: @unchecked Sendable {
    let cancellable: UnsafeMutableRawPointer
  }
}
