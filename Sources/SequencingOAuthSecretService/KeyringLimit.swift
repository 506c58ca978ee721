import CSecret
import Dispatch

/// Ends the keyring's calls when they have taken too long, such as a prompt that nobody answers.
final class KeyringLimit {
  let duration: Duration
  let cancellable: UnsafeMutablePointer<GCancellable>
  private let timer: any DispatchSourceTimer

  /// The time runs from now on.
  init(_ duration: Duration) {
    self.duration = duration
    cancellable = g_cancellable_new()
    let shared = Shared(cancellable: cancellable)
    g_object_ref(cancellable)
    // The store's own queue is the one that waits.
    timer = DispatchSource.makeTimerSource(queue: .global())
    timer.setEventHandler { @Sendable in g_cancellable_cancel(shared.cancellable) }
    timer.setCancelHandler { @Sendable in g_object_unref(shared.cancellable) }
    let (seconds, attoseconds) = duration.components
    timer.schedule(
      deadline: .now() + .seconds(Int(seconds))
        + .nanoseconds(Int(attoseconds / 1_000_000_000)))
    timer.activate()
  }

  deinit {
    timer.cancel()
    g_object_unref(cancellable)
  }

  /// Whether the time is over.
  var isOver: Bool { g_cancellable_is_cancelled(cancellable) != 0 }

  /// What the timer's thread gets; GLib lets any thread cancel.
  private struct Shared: @unchecked Sendable {
    let cancellable: UnsafeMutablePointer<GCancellable>
  }
}
