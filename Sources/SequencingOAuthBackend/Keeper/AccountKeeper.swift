import SQBasics
public import SequencingOAuth

/// A background task that renews the tokens of a store's accounts before they expire.
///
/// Any number of processes on any number of hosts may each have a keeper for the same store. The
/// keepers share the accounts: one of them renews each account before its access token expires. If
/// a server fails or asks to wait with `Retry-After` (RFC 9110, section 10.2.3), the keepers pause
/// for the accounts of that client at that server. With a PostgreSQL database, the pause applies to
/// all hosts. With a store that is no `AccountQueue`, each process reads all records every 30 s
/// and pauses independently. If a server refuses one account, only this account waits: first for
/// 10 s or the time since its token was due, and twice as long after each further refusal, up to an
/// hour.
///
/// With a PostgreSQL database, the memory of a keeper does not grow with the number of accounts. A
/// keeper ends with ``stop()``, or when it is released. All members may be used from any thread.
public final class AccountKeeper: Sendable {
  /// A closure that returns an account's client configuration; `nil` skips the account for an hour.
  public typealias ConfigurationFinder = @Sendable (AccountRecord) -> ClientConfiguration?

  /// An event of an account, a server or the store.
  ///
  /// If the user of a due account was signed out in the meantime, there is no event. A later
  /// version may add cases, so write a `default` in a `switch`.
  public enum Event: Sendable {
    /// This process renewed the token of the account with this id, and stored the new one.
    case refreshed(String)
    /// Another process has renewed the token of the account with this id.
    case takenOver(String)
    /// The account's record could not be read, or its token could not be renewed or stored; the
    /// keeper tries again.
    ///
    /// If the error's `requiresSignIn` is `true`, the user should sign in again.
    case failed(String, SQOAuthError)
    /// The account's session ended, so the user must sign in again.
    ///
    /// The server refused the refresh token or the grant, or sent an ID token of another issuer or
    /// user.
    case ended(String, SQOAuthError)
    /// The keeper pauses for a client's accounts at a server, named by its issuer or token
    /// endpoint.
    ///
    /// The keeper continues with the accounts of other clients at this server.
    case paused(String, Duration)
    /// The store could not return the due accounts; the keeper tries again.
    case storeFailed(SQOAuthError)
  }

  /// The number of events of each kind since the keeper started.
  public struct Totals: Sendable, Hashable {
    /// The number of tokens that this process renewed and stored.
    public internal(set) var refreshed = 0
    /// The number of tokens that another process renewed.
    public internal(set) var takenOver = 0
    /// The number of failed attempts; the keeper repeats each of them.
    public internal(set) var failed = 0
    /// The number of accounts that need a new sign-in.
    public internal(set) var ended = 0
    /// The number of pauses for a client at a server.
    public internal(set) var paused = 0
    /// The number of times that the store could not return the due accounts.
    public internal(set) var storeFailed = 0
  }

  private let worker: KeepingWorker
  private let work: Task<Void, Never>

  init(_ worker: KeepingWorker) {
    self.worker = worker
    work = Task { await worker.run() }
  }

  deinit {
    work.cancel()
  }

  /// Whether an account is being renewed.
  var isRenewing: Bool { worker.isRenewing }

  /// The totals of all events so far.
  public var totals: Totals { worker.totals.withLock { $0 } }

  /// Returns a stream of the events from now on; it ends when the keeper has stopped.
  ///
  /// A slow reader keeps the newest 1000 events and loses older ones.
  public func events() -> AsyncStream<Event> {
    worker.observers.stream(atMost: 1000)
  }

  /// Keeps the accounts fresh until the calling task is cancelled, and then does what ``stop()``
  /// does.
  ///
  /// Use this method if the app runs its services in a task group, for example with
  /// swift-service-lifecycle. It also returns after ``stop()``.
  public func run() async {
    await withTaskCancellationHandler {
      await work.value
    } onCancel: {
      work.cancel()
    }
  }

  /// Stops the keeper, and returns when its running renewals have ended and their tokens are
  /// stored.
  ///
  /// That takes as long as the running requests, each at most 100 s. The keeper does not wait for
  /// an account that another process uses. If the store cannot save a token, the keeper tries again
  /// every second for 30 s. Then it releases the leases and notifies the other hosts, for 5 s at
  /// most.
  public func stop() async {
    work.cancel()
    await work.value
  }
}

extension AccountManager {
  /// Renews the accounts in the store until the returned keeper is stopped or released.
  ///
  /// `atOnce` is the greatest number of accounts that this process renews at the same time. The
  /// servers share these places: a free place goes to a server with few renewals under way, so a
  /// slow server does not delay the accounts of the others for long. If `account(_:id:)` returned a
  /// module for an account, the keeper uses that module, so the module's events report the renewals.
  ///
  /// ```swift
  /// let keeper = manager.keepFresh { _ in configuration }
  /// for await event in keeper.events() { print(event, keeper.totals) }
  /// ```
  public func keepFresh(
    _ choice: KeepingChoice = .all, atOnce: Int = 8,
    configuration: @escaping AccountKeeper.ConfigurationFinder
  ) -> AccountKeeper {
    AccountKeeper(
      KeepingWorker(self, choice, atOnce: max(1, atOnce), configuration: configuration))
  }
}
