import SQBasics
public import SequencingOAuth

/// Keeps the accounts of a store fresh, together with all other keepers that share the store.
///
/// Any number of processes on any number of hosts may keep the accounts of one store. They share the
/// accounts that fall due, and each account is renewed once, before its access token expires. A
/// server that fails, or that asks to wait with `Retry-After` (RFC 9110, section 10.2.3), is left
/// alone by all of them for that time. For accounts in a PostgreSQL database, this holds for all
/// hosts. With other stores, each process reads all records every 30 s and pauses by itself.
///
/// The memory that a keeper needs does not grow with the number of accounts in a database. A keeper
/// ends with ``stop()``, or when it is released. All members may be used from any thread.
public final class AccountKeeper: Sendable {
  /// Finds the configuration of the client that signed an account in; `nil` leaves the account
  /// alone for an hour.
  public typealias ConfigurationFinder = @Sendable (AccountRecord) -> ClientConfiguration?

  /// What happened to an account, to a server or to the store.
  public enum Event: Sendable {
    /// This process renewed the token of the account with this id, and the new one is stored.
    case refreshed(String)
    /// Another process had renewed the token of the account with this id.
    case takenOver(String)
    /// The account's token could not be renewed or stored; the keeper tries again.
    case failed(String, SQOAuthError)
    /// The server refused the account's refresh token, so the user must sign in again.
    case ended(String, SQOAuthError)
    /// The accounts of a server, named by its issuer or token endpoint, are left alone for a time.
    case paused(String, Duration)
    /// The store did not say which accounts are due; the keeper asks again.
    case storeFailed(SQOAuthError)
  }

  /// How often each kind of event has happened since the keeper began.
  public struct Totals: Sendable, Hashable {
    /// How many tokens this process renewed and stored.
    public internal(set) var refreshed = 0
    /// How many tokens another process had renewed.
    public internal(set) var takenOver = 0
    /// How many attempts failed that will be repeated.
    public internal(set) var failed = 0
    /// How many accounts need a new sign-in.
    public internal(set) var ended = 0
    /// How many times a server was left alone for a time.
    public internal(set) var paused = 0
    /// How many times the store did not answer.
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

  /// What has happened so far.
  public var totals: Totals { worker.totals.withLock { $0 } }

  /// The events from now on, until the keeper has stopped.
  ///
  /// A reader that falls behind loses the oldest events after the newest 1000.
  public var events: AsyncStream<Event> {
    worker.observers.stream(atMost: 1000)
  }

  /// Ends the keeper, and returns when all renewals under way have ended and are stored.
  ///
  /// That takes as long as the requests under way, each at most 100 s. An account that another
  /// process has is left to it. A token that the store did not take is offered to it again every
  /// second, for 30 s. Then the leases are given back, and other hosts are told, for 5 s at most.
  public func stop() async {
    work.cancel()
    await work.value
  }
}

extension AccountManager {
  /// Keeps the accounts in the store fresh until the returned keeper is stopped or released.
  ///
  /// `atOnce` is how many accounts are renewed at a time by this process. An account for which
  /// ``account(_:id:)`` was called keeps that module, so its delegates are told.
  ///
  /// ```swift
  /// let keeper = manager.keepFresh { _ in configuration }
  /// for await event in keeper.events { print(event, keeper.totals) }
  /// ```
  public func keepFresh(
    _ choice: KeepingChoice = .all, atOnce: Int = 8,
    configuration: @escaping AccountKeeper.ConfigurationFinder
  ) -> AccountKeeper {
    AccountKeeper(
      KeepingWorker(self, choice, atOnce: max(1, atOnce), configuration: configuration))
  }
}
