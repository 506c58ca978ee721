// Its sources may be used from any thread, which their declarations do not say.
@preconcurrency import Dispatch
import LoopbackHTTP
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Turns the signals that ask a program to end into a call: SIGINT (Ctrl-C), SIGTERM and SIGHUP.
///
/// Without it such a signal ends the program at once, also in the middle of a refresh; if the server
/// has replaced the refresh token by then, the user must sign in again.
/// ``init(settling:onFailure:)-([AuthorizationModule],_)`` waits for the refresh. The SDK installs no
/// handler by itself.
///
/// It listens until ``stop()``. The first signal ends the listening, so that a second one ends the
/// program at once, whatever the handler still waits for. SIGHUP stays ignored in a program that
/// `nohup` runs.
public final class TerminationSignals: Sendable {
  private let sources: [any DispatchSourceSignal]
  private let stopped = DispatchGroup()

  /// Listens, and calls a handler once, on a thread of its own, with the number of the first signal.
  public init(_ handler: @escaping @Sendable (Int32) -> Void) {
    // Not so SIGINT, which a shell's script ignores for whatever it runs in the background.
    let signals = [SIGINT, SIGTERM] + (Self.isIgnored(SIGHUP) ? [] : [SIGHUP])
    let queue = DispatchQueue(label: "SequencingOAuth.signals")
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
      source.setEventHandler { @Sendable [sources] in
        // At once, so that a further signal ends the program while the handler works.
        for number in signals { Self.putAside(signal(number, SIG_DFL)) }
        sources.forEach { $0.cancel() }
        DispatchQueue.global().async { handler(number) }
      }
      source.activate()
    }
    // A signal before that would end the program with the terminal as it is.
    registration.wait()
    signals.forEach(Self.putBack)
  }

  /// Lets the signals end the program again.
  public func stop() {
    sources.forEach { $0.cancel() }
    stopped.wait()
  }
}

extension TerminationSignals {
  /// Listens, and at the first signal waits for the refresh that is under way, and for the store,
  /// before the signal ends the program.
  ///
  /// Automatic refreshes stop then. The wait is no longer than a refresh and the store's locks
  /// take. `onFailure` hears why the newest token could not be stored, if that is so.
  public convenience init(
    settling modules: [AuthorizationModule],
    onFailure: @escaping @Sendable (SQOAuthError) -> Void = { _ in }
  ) {
    self.init(settling: { modules }, onFailure: onFailure)
  }

  /// Listens for all accounts that a manager has by the time of the signal; see
  /// ``init(settling:onFailure:)-([AuthorizationModule],_)``.
  public convenience init(
    settling manager: AccountManager,
    onFailure: @escaping @Sendable (SQOAuthError) -> Void = { _ in }
  ) {
    self.init(settling: { manager.all }, onFailure: onFailure)
  }

  private convenience init(
    settling modules: @escaping @Sendable () -> [AuthorizationModule],
    onFailure: @escaping @Sendable (SQOAuthError) -> Void
  ) {
    self.init { number in
      Task {
        await Self.settle(modules(), onFailure)
        // What an app began meanwhile.
        await Self.settle(modules(), { _ in })
        Self.end(by: number)
      }
    }
  }

  private static func settle(
    _ modules: [AuthorizationModule], _ onFailure: @escaping @Sendable (SQOAuthError) -> Void
  ) async {
    for module in modules { module.refreshesAutomatically = false }
    await withTaskGroup(of: Void.self) { group in
      for module in modules {
        group.addTask {
          do throws(SQOAuthError) { try await module.settle() } catch { onFailure(error) }
        }
      }
    }
  }

  /// Listens for one ``SQOAuth``, such as ``SQOAuth/shared``; see
  /// ``init(settling:onFailure:)-([AuthorizationModule],_)``.
  public convenience init(
    settling oauth: SQOAuth, onFailure: @escaping @Sendable (SQOAuthError) -> Void = { _ in }
  ) {
    self.init(settling: [oauth.module], onFailure: onFailure)
  }

  /// Ends the program as the signal would have, so that a shell sees which one it was.
  private static func end(by number: Int32) {
    signal(number, SIG_DFL)
    kill(getpid(), number)
  }
}

// Dispatch sets its handler of a signal once in the life of a program; where it was replaced by the
// default meanwhile, a later source for that signal would hear nothing.
extension TerminationSignals {
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
