// Its sources may be used from any thread, which their declarations do not say.
@preconcurrency import Dispatch
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Turns Ctrl-C and the signals that ask a program to end into a call.
///
/// It listens until ``stop()``; after the first signal a second one ends the program, so that
/// nobody is held by work that does not stop.
final class Interrupts: Sendable {
  private static let signals = [SIGINT, SIGTERM, SIGHUP]

  private let sources: [any DispatchSourceSignal]
  private let hasCome = Atomic(false)

  init(_ handler: @escaping @Sendable () -> Void) {
    let queue = DispatchQueue(label: "sq-demo.interrupts")
    sources = Self.signals.map { DispatchSource.makeSignalSource(signal: $0, queue: queue) }
    let registration = DispatchGroup()
    for source in sources {
      registration.enter()
      source.setRegistrationHandler { @Sendable in registration.leave() }
      source.setEventHandler { @Sendable [weak self, sources] in
        self?.hasCome.store(true, ordering: .relaxed)
        Self.stop(sources)
        handler()
      }
      source.activate()
    }
    // A signal before that would end the program with the terminal as it is.
    registration.wait()
  }

  /// Whether a signal has come, or comes within a while.
  func haveCome(within patience: Duration) async -> Bool {
    if !hasCome.load(ordering: .relaxed) { try? await Task.sleep(for: patience) }
    return hasCome.load(ordering: .relaxed)
  }

  /// Lets the signals end the program again.
  func stop() {
    Self.stop(sources)
  }

  private static func stop(_ sources: [any DispatchSourceSignal]) {
    sources.forEach { $0.cancel() }
    signals.forEach { signal($0, SIG_DFL) }
  }
}
