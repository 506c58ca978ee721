import SQBasics

/// Accounts that an `AccountKeeper` took from a queue.
package struct DueAccounts: Sendable {
  package struct Account: Sendable {
    package let id: String
    package let record: Result<AccountRecord, SQOAuthError>
    /// The version of the stored record, for queues with versions.
    package let version: Int64
    /// Whether the account's server was paused.
    package let wasPaused: Bool

    package init(
      id: String, record: Result<AccountRecord, SQOAuthError>, version: Int64 = 0, wasPaused: Bool
    ) {
      self.id = id
      self.record = record
      self.version = version
      self.wasPaused = wasPaused
    }
  }

  package var accounts: [Account]
  /// The time until the next account is due, if none is due now; `nil` if it is not known.
  package var next: Duration?

  package init(_ accounts: [Account], next: Duration? = nil) {
    self.accounts = accounts
    self.next = next
  }
}
