import SQBasics
public import SQFoundation

/// Accounts that an `AccountKeeper` took from a queue.
public struct DueAccounts: Sendable {
  /// One account that is due for renewal.
  public struct Account: Sendable {
    /// The account's id.
    public let id: String
    /// The account's record, or the reason why it cannot be read.
    public let record: Result<AccountRecord, SQOAuthError>
    /// The version of the stored record, for queues that count versions; otherwise 0.
    public let version: Int64
    /// Whether the account's renewal is the first request to its server after a pause.
    ///
    /// Until the result of this request is known, the queue returns no other account of the server.
    /// The value is `false` if the record cannot be read, because the keeper then sends no request.
    public let wasPaused: Bool
    /// The date of the clock by which the account was due; `nil` for the keeper's own clock.
    ///
    /// The keeper computes by this date how old the record is. A queue for several hosts returns the
    /// date of the clock that they share. Otherwise a host whose clock is wrong would postpone
    /// accounts for too long.
    public let date: Date?

    /// Creates an account from its fields.
    public init(
      id: String, record: Result<AccountRecord, SQOAuthError>, version: Int64 = 0, wasPaused: Bool,
      date: Date? = nil
    ) {
      self.id = id
      self.record = record
      self.version = version
      self.wasPaused = wasPaused
      self.date = date
    }
  }

  /// The accounts to renew now.
  public var accounts: [Account]
  /// The time until the next account is due, if none is due now; `nil` if it is not known.
  public var next: Duration?

  /// Creates the result of a queue's ``AccountQueue/take(atMost:for:)``.
  public init(_ accounts: [Account], next: Duration? = nil) {
    self.accounts = accounts
    self.next = next
  }
}
