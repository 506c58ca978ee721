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
    after(duration, UnsafeMutableRawPointer(cancellable)) { object in
      g_cancellable_cancel(object.assumingMemoryBound(to: GCancellable.self))
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
  ///
  /// The context is that in which the connection was made, and is nobody's: what tells libsecret
  /// of the close is a signal there.
  func govern(_ connection: OpaquePointer, in context: OpaquePointer?) {
    let context = Shared(UnsafeMutableRawPointer(g_main_context_ref(context)))
    after(duration + Self.grace, UnsafeMutableRawPointer(connection)) { connection in
      g_dbus_connection_close_sync(OpaquePointer(connection), nil, nil)
      g_main_context_iteration(OpaquePointer(context.pointer), 1)
    } end: {
      g_main_context_unref(OpaquePointer(context.pointer))
    }
  }

  private func after(
    _ delay: Duration, _ object: UnsafeMutableRawPointer,
    _ action: @escaping @Sendable (UnsafeMutableRawPointer) -> Void,
    end: @escaping @Sendable () -> Void = {}
  ) {
    let object = Shared(g_object_ref(object))
    // Not the store's own queue: that is what waits.
    let timer = DispatchSource.makeTimerSource(queue: .global())
    timer.setEventHandler { @Sendable in action(object.pointer) }
    timer.setCancelHandler { @Sendable in
      end()
      g_object_unref(object.pointer)
    }
    let (seconds, attoseconds) = delay.components
    timer.schedule(
      deadline: .now() + .seconds(Int(seconds)) + .nanoseconds(Int(attoseconds / 1_000_000_000)))
    timer.activate()
    timers.append(timer)
  }

  /// What a timer's thread gets; GLib lets any thread cancel and close.
  private struct Shared: @unchecked Sendable {
    let pointer: UnsafeMutableRawPointer

    init(_ pointer: UnsafeMutableRawPointer) {
      self.pointer = pointer
    }
  }
}
