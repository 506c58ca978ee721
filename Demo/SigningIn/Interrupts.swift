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
/// nobody is held by work that does not stop. A program that `nohup` runs goes on when its terminal
/// is closed.
final class Interrupts: Sendable {
  private let sources: [any DispatchSourceSignal]
  private let stopped = DispatchGroup()
  private let hasCome = Atomic(false)

  init(_ handler: @escaping @Sendable () -> Void) {
    // Not so SIGINT, which a shell's script ignores for whatever it runs in the background.
    let signals = [SIGINT, SIGTERM] + (Self.isIgnored(SIGHUP) ? [] : [SIGHUP])
    let queue = DispatchQueue(label: "sq-demo.interrupts")
    sources = signals.map { DispatchSource.makeSignalSource(signal: $0, queue: queue) }
    let registration = DispatchGroup()
    for (number, source) in zip(signals, sources) {
      registration.enter()
      stopped.enter()
      source.setRegistrationHandler { @Sendable in registration.leave() }
      source.setCancelHandler { @Sendable [stopped] in
        Self.putAside(signal(number, SIG_DFL))
        stopped.leave()
      }
      source.setEventHandler { @Sendable [weak self, sources] in
        self?.hasCome.store(true, ordering: .relaxed)
        sources.forEach { $0.cancel() }
        handler()
      }
      source.activate()
    }
    // A signal before that would end the program with the terminal as it is.
    registration.wait()
    signals.forEach(Self.putBack)
  }

  /// Whether a signal has come, or comes within a while.
  func haveCome(within patience: Duration) async -> Bool {
    if !hasCome.load(ordering: .relaxed) { try? await Task.sleep(for: patience) }
    return hasCome.load(ordering: .relaxed)
  }

  /// Lets the signals end the program again.
  func stop() {
    sources.forEach { $0.cancel() }
    stopped.wait()
  }
}

// Dispatch sets its handler of a signal once in the life of a program; where it was replaced by the
// default meanwhile, a later source for that signal would hear nothing.
extension Interrupts {
  private typealias Handler = @convention(c) (Int32) -> Void

  /// Dispatch's handler, which is one for all signals, as the number of its address.
  private static let handler = Atomic(0)

  private static func putAside(_ handler: Handler?) {
    let number = number(of: handler)
    if number > Self.number(of: SIG_IGN) { self.handler.store(number, ordering: .releasing) }
  }

  private static func putBack(for number: Int32) {
    let handler = unsafeBitCast(handler.load(ordering: .acquiring), to: Handler?.self)
    if let handler { signal(number, handler) }
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    let handler = signal(number, SIG_IGN)
    signal(number, handler)
    return Self.number(of: handler) == Self.number(of: SIG_IGN)
  }

  private static func number(of handler: Handler?) -> Int {
    unsafeBitCast(handler, to: Int.self)
  }
}
