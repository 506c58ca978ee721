import SQBasics

/// Calls a function when a signal asks the program to end: SIGINT (Ctrl-C), SIGTERM or SIGHUP.
///
/// Without it such a signal ends the program at once, even in the middle of a refresh. If the
/// server has replaced the refresh token by then, the user must sign in again. An instance that is
/// made with modules, by ``init(settling:onFailure:)-([AuthorizationModule],_)``, lets their
/// refreshes end and their tokens be stored before the program ends. The SDK never installs a
/// handler unless an app makes an instance.
///
/// An instance listens until ``stop()`` or the first signal. A second signal ends the program at
/// once, whatever the handler still waits for. Signals within half a second are one: `timeout`, for
/// example, sends its signal to the program and to its group. An instance replaces a handler that
/// the program has set for these signals. In a program that `nohup` runs, SIGHUP stays ignored.
///
/// A framework that handles these signals itself, as a `ServiceGroup` or a web server does, takes
/// them away from an instance. There, call ``AccountManager/settle()`` or
/// ``AuthorizationModule/settle()`` when the framework stops.
public final class TerminationSignals: Sendable {
  private let id: Int

  /// Listens, and calls a handler once, on a thread of its own, with the number of the first
  /// signal.
  public init(_ handler: @escaping @Sendable (Int32) -> Void) {
    id = SignalListener.shared.add(handler)
  }

  /// Stops listening; unless another instance listens, the signals end the program again.
  public func stop() {
    SignalListener.shared.remove(id)
  }
}

extension TerminationSignals {
  /// Listens, and at the first signal lets the refreshes of these accounts finish before the
  /// program ends.
  ///
  /// At the signal automatic refreshes stop. The program then waits for the refresh that was sent
  /// and for the store, with the limits of ``AuthorizationModule/settle()``. `onFailure` gets the
  /// error if the newest token could not be stored.
  public convenience init(
    settling modules: [AuthorizationModule],
    onFailure: @escaping @Sendable (SQOAuthError) -> Void = { _ in }
  ) {
    self.init(settling: { await modules.settle($0) }, onFailure: onFailure)
  }

  /// Listens, and at the first signal lets the refreshes of all accounts of a manager finish.
  ///
  /// The accounts are those that the manager has at the time of the signal. See
  /// ``init(settling:onFailure:)-([AuthorizationModule],_)``.
  public convenience init(
    settling manager: AccountManager,
    onFailure: @escaping @Sendable (SQOAuthError) -> Void = { _ in }
  ) {
    self.init(settling: { await manager.settle($0) }, onFailure: onFailure)
  }

  private convenience init(
    settling: @escaping @Sendable (@escaping @Sendable (SQOAuthError) -> Void) async -> Void,
    onFailure: @escaping @Sendable (SQOAuthError) -> Void
  ) {
    self.init { number in
      Task {
        let hasFailed = Locked(false)
        await settling { error in
          hasFailed.withLock { $0 = true }
          onFailure(error)
        }
        // Waits for what the app has begun in the meantime, unless the store has had its time.
        if !hasFailed.withLock({ $0 }) { await settling { _ in } }
        SignalListener.end(by: number)
      }
    }
  }

  /// Listens, and at the first signal lets the refresh of one ``SQOAuth`` finish, such as that of
  /// ``SQOAuth/shared``.
  ///
  /// See ``init(settling:onFailure:)-([AuthorizationModule],_)``.
  public convenience init(
    settling oauth: SQOAuth, onFailure: @escaping @Sendable (SQOAuthError) -> Void = { _ in }
  ) {
    self.init(settling: [oauth.module], onFailure: onFailure)
  }
}
