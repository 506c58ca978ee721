import SQBasics

/// A listener that calls a function when a signal asks the program to end.
///
/// The signals are SIGINT (Ctrl-C), SIGTERM and SIGHUP. Without an instance of this class, such a
/// signal ends the program immediately, even during a refresh. If the server has already replaced
/// the refresh token, the user must sign in again. An instance that is created with modules, by
/// ``init(flushing:onFailure:)-([AuthorizationModule],_)``, makes the program finish their
/// refreshes and store their tokens before it ends. The SDK installs no signal handler unless an
/// app creates an instance.
///
/// An instance listens until ``stop()`` or until the first signal. A second signal ends the program
/// immediately, even if the handler has not finished. Signals within half a second count as one:
/// for example, the command `timeout` sends its signal to the program and to the program's group.
/// An instance replaces a handler that the program has set for these signals. In a program that is
/// run by `nohup`, SIGHUP stays ignored. Process 1 of a container, which Linux does not end by a
/// signal, ends with the status that a shell would report: 128 plus the signal's number.
///
/// Several instances may listen: one for ``SQOAuth/shared`` and one for each ``AccountManager``, for
/// example. The program then ends when the accounts of all of them are finished, and the handlers of
/// the others have returned.
///
/// An instance receives no signal that every thread of the program blocks. If a parent process
/// started the program with blocked signals, unblock them first, with `pthread_sigmask`.
///
/// A framework that handles these signals itself, such as a `ServiceGroup` or a web server,
/// prevents an instance from receiving them. In that case, call ``AccountManager/flush()`` or
/// ``AccountOperations/flush()`` when the framework stops.
public final class TerminationSignals: Sendable {
  private let id: Int

  /// Starts to listen; the first signal calls `handler` once, on a new thread, with the signal's
  /// number.
  public init(_ handler: @escaping @Sendable (Int32) -> Void) {
    id = SignalListener.shared.add { number, isDone in
      handler(number)
      isDone(false)
    }
  }

  private init(to handler: @escaping SignalListener.Handler) {
    id = SignalListener.shared.add(handler)
  }

  /// Stops listening; unless another instance listens, the signals end the program again.
  ///
  /// A signal that has arrived without a call of the handler ends the program too.
  public func stop() {
    SignalListener.shared.remove(id)
  }
}

extension TerminationSignals {
  /// Starts to listen; at the first signal, finishes these accounts' refreshes and ends the
  /// program.
  ///
  /// After the signal, no automatic refresh starts. The program waits for a token request that was
  /// already sent and for the store, with the limits of ``AccountOperations/flush()``.
  /// `onFailure` gets the error if the newest token could not be stored.
  public convenience init(
    flushing modules: [AuthorizationModule],
    onFailure: @escaping @Sendable (SQOAuthError) -> Void = { _ in }
  ) {
    self.init(flushing: { await modules.map(\.session).flush($0) }, onFailure: onFailure)
  }

  /// Starts to listen; at the first signal, finishes the refreshes of a manager's accounts and ends
  /// the program.
  ///
  /// These are the accounts that the manager has when the signal arrives, and those that it has
  /// released, but whose refresh is under way or whose token is not stored yet. See
  /// ``init(flushing:onFailure:)-([AuthorizationModule],_)``.
  public convenience init(
    flushing manager: AccountManager,
    onFailure: @escaping @Sendable (SQOAuthError) -> Void = { _ in }
  ) {
    self.init(flushing: { await manager.flush($0) }, onFailure: onFailure)
  }

  private convenience init(
    flushing: @escaping @Sendable (@escaping @Sendable (SQOAuthError) -> Void) async -> Void,
    onFailure: @escaping @Sendable (SQOAuthError) -> Void
  ) {
    self.init(to: { _, isDone in
      Task {
        let hasFailed = Locked(false)
        await flushing { error in
          hasFailed.withLock { $0 = true }
          onFailure(error)
        }
        // Waits for work that the app has started in the meantime, unless a token could not be
        // stored.
        if !hasFailed.withLock({ $0 }) { await flushing { _ in } }
        isDone(true)
      }
    })
  }

  /// Starts to listen; at the first signal, finishes the refresh of one ``SQOAuth`` instance and
  /// ends the program.
  ///
  /// Pass ``SQOAuth/shared``, for example. `onFailure` gets the error if the newest token could not
  /// be stored. For the time limits, see ``init(flushing:onFailure:)-([AuthorizationModule],_)``.
  public convenience init(
    flushing oauth: SQOAuth, onFailure: @escaping @Sendable (SQOAuthError) -> Void = { _ in }
  ) {
    self.init(flushing: [oauth.module], onFailure: onFailure)
  }
}
