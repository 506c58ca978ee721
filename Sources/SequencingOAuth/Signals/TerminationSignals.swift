/// Turns the signals that ask a program to end into a call: SIGINT (Ctrl-C), SIGTERM and SIGHUP.
///
/// Without it such a signal ends the program at once, also in the middle of a refresh; if the server
/// has replaced the refresh token by then, the user must sign in again.
/// ``init(settling:onFailure:)-([AuthorizationModule],_)`` waits for the refresh. The SDK installs no
/// handler by itself.
///
/// It listens until ``stop()``. The first signal ends the listening, so that a second one ends the
/// program at once, whatever the handler still waits for. It replaces a handler that the program has
/// set for these signals. SIGHUP stays ignored in a program that `nohup` runs.
public final class TerminationSignals: Sendable {
  private let id: Int

  /// Listens, and calls a handler once, on a thread of its own, with the number of the first signal.
  public init(_ handler: @escaping @Sendable (Int32) -> Void) {
    id = SignalListener.shared.add(handler)
  }

  /// Lets the signals end the program again, unless another instance listens.
  public func stop() {
    SignalListener.shared.remove(id)
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
        SignalListener.end(by: number)
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
}
